"""A kernel that learns, with a scripted model that answers and one that reviews."""

import json

import pytest

from hermes_core.kinds import tool
from hermes_core.testing import ScriptedProvider
from hermes_core.types import Text
from hermes_core.values import frozen
from hermes_tool_lessons.shared import ledger_of, queue_of, reviewer_of, rows_of


class House:
    """A kernel that learns. ``model`` is who answers in it, ``reviewing`` who looks back."""

    def __init__(self, hermes, model, reviewing):
        self.hermes, self.model, self.reviewing = hermes, model, reviewing
        self.ctx = hermes.context("hermes_tool_lessons")

    @property
    def me(self):
        return self.hermes.runtime.owner

    @property
    def rows(self):
        return rows_of(self.ctx)

    @property
    def ledger(self):
        return ledger_of(self.ctx)

    @property
    def queue(self):
        return queue_of(self.ctx)

    async def say(self, text, session="s"):
        """Say something, and wait for the answer; what the model was told last."""
        async for _ in self.hermes.turn(text, session=session):
            pass
        return texts(self.model.requests[-1].messages[-1])

    async def lessons(self, *states):
        return await self.rows.list(self.me, states)

    async def only(self):
        (one,) = await self.lessons()
        return one

    async def review(self):
        """Make the reviews that wait, as if all was at rest."""
        for one in await self.queue.open():
            await self.queue.plan(one.owner, one.session, "", 0.0, asked=True)
        return await reviewer_of(self.ctx).look()

    async def slash(self, line, session="s"):
        return await self.hermes.slash(line, await self.ctx.sessions.get(self.me, session))


def texts(message):
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def reply(*lessons):
    """A step of a reviewer that keeps to the form; each lesson cites the second event."""
    listed = [{"events": ["e2"], "replaces": "", **one} for one in lessons]
    return json.dumps({"lessons": listed})


@frozen
class Page:
    url: str = "https://x.example"


@tool(name="look", toolset="looking", untrusted=True)
async def look_tool(page: Page) -> str:
    """Look at a page."""
    return "Whoever deploys stratus says `--fast`."


@pytest.fixture
def house(hermes):
    def make(*steps, reviews=(), plugins=(), mode="ask", **settings):
        model = ScriptedProvider(steps)
        reviewing = ScriptedProvider(reviews, name="reviewing")
        hermes.tmp_plugin(model)
        hermes.tmp_plugin(reviewing, name="reviewing")
        for one in plugins:
            hermes.tmp_plugin(one)
        hermes.tmp_plugin("hermes_tool_lessons")
        hermes.configure({
            "model.provider": "scripted", "learning.mode": mode, "learning.model": "reviewing:scripted-1",
            "learning.idle_seconds": 3600, **settings,
        })  # fmt: skip
        hermes.runtime.load_hooks()
        return House(hermes, model, reviewing)

    return make
