"""A kernel with goals, a scripted model and a real shell, and what plays a goal to its end."""

import json
import re
from pathlib import Path

import pytest

from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Text
from hermes_core.values import frozen
from hermes_tool_goals.running import played
from hermes_tool_goals.shared import goals_of


class House:
    """A kernel that pursues goals; ``model`` is who answers in it, ``judge`` who judges."""

    def __init__(self, hermes, model):
        self.hermes, self.model = hermes, model
        self.ctx = hermes.context("hermes_tool_goals")
        self.session, self.said = None, []

    async def type(self, line):
        """Type a slash command into the conversation."""
        self.session = (
            self.session or (await self.hermes.runtime.sessions.take("", "cli", self.hermes.runtime.owner)).session
        )
        return await self.hermes.slash(line, self.session)

    async def goal(self):
        """The newest goal, as it is now."""
        return (await goals_of(self.ctx).list())[0]

    async def rounds(self):
        return await goals_of(self.ctx).rounds((await self.goal()).id)

    async def run(self):
        """Pursue the goal until nothing of it is to be done; the goal as it is then."""
        return await played(self.ctx, await self.goal(), self.said.append)

    @property
    def asked(self):
        """What the model was told last in each request of the conversation."""
        return [texts(one.messages[-1]) for one in self.model.requests]


def texts(message):
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def verdict(kind, why="It is so.", left="", **more):
    """A step of a judge that keeps to the form, with the mark that it was told."""

    def step(request):
        mark = re.search(r"The mark is (\w+)", texts(request.messages[-1]))[1]
        return json.dumps({"mark": mark, "verdict": kind, "why": why, "left": left, **more})

    return step


@pytest.fixture
def house(hermes, monkeypatch):
    monkeypatch.chdir(hermes.workspace.folder)

    def make(*steps, judge=(), plugins=(), **settings):
        model = ScriptedProvider(steps)
        hermes.tmp_plugin(model)
        hermes.tmp_plugin(ScriptedProvider(judge, name="judging"), name="judging")
        for one in (make_tool, *plugins):
            hermes.tmp_plugin(*one) if isinstance(one, tuple) else hermes.tmp_plugin(one)
        hermes.tmp_plugin("hermes_tool_terminal")
        hermes.tmp_plugin("hermes_tool_goals")
        auxiliary = {"auxiliary": {"goal_judge": {"provider": "judging", "model": "scripted-1"}}}
        hermes.configure({"model.provider": "scripted", **auxiliary, **settings})
        hermes.runtime.load_hooks()
        return House(hermes, model)

    return make


@frozen
class Made:
    name: str
    text: str = ""


@tool(name="make", toolset="making")
async def make_tool(wanted: Made) -> str:
    """Write a file."""
    Path(wanted.name).write_text(wanted.text)
    return "made"


def write(name, text=""):
    """A step in which the model writes a file."""
    return Call("make", {"name": name, "text": text})
