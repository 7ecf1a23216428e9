"""Every way in leads past the one point: what is denied does not happen, through whichever door it comes.

One command, ``touch CANARY``, in a process of its own where that is how the door works. Each door is tried without a
barrier too: there the canary must appear, or the test would prove nothing.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_core.distribution import HERMES
from hermes_core.embed import Agent, Hermes
from hermes_core.gateway.carry import Carrier
from hermes_core.kinds import Platform
from hermes_core.types import Envelope, Message, Text

PLANNED = Path(__file__).parents[1] / "children" / "planned.py"
GATE = """# /// hermes
# api = 1
# name = "gate"
# kind = "tool"
# summary = "A gate."
# [hooks]
# use = ["pre_tool_call"]
# ///
from hermes_core import hookimpl


@hookimpl
async def pre_tool_call(call):
    if call.name == "terminal":
        %s
"""
BARRIERS = {
    "none": ({}, ""),
    "rule": ({"policy.deny": ["terminal(touch *)"]}, ""),
    "gate denies": ({}, "from hermes_core.types import Verdict; return Verdict(outcome='deny', reason='no')"),
    "gate raises": ({}, "raise RuntimeError('broken')"),
    "gate answers nonsense": ({}, "return 'yes'"),
}


class House:
    """A home in which nothing is asked, a model that does what it is told, and a canary."""

    def __init__(self, folder: Path, barrier: str) -> None:
        self.home, self.work = folder / "home", folder / "work"
        (self.home / "plugins").mkdir(parents=True)
        self.work.mkdir()
        settings, gate = BARRIERS[barrier]
        self.config = {"policy.mode": "off", "memory.provider": "", "terminal.cwd": str(self.work), **settings}
        shutil.copy(PLANNED, self.home / "plugins" / "planned.py")
        if gate:
            (self.home / "plugins" / "gate.py").write_text(GATE % gate)
        home = HERMES.home(None, self.home)
        index = HERMES.installed(home)
        for label in ("provider/planned", *(["tool/gate"] if gate else [])):
            HERMES.consent(home).enable(index.get(label))
        self.canary = self.work / "canary"
        self.call = {"terminal": {"command": f"touch {self.canary}"}}

    def hermes(self, **config) -> Hermes:
        return Hermes(HERMES, home=self.home, provider="planned", config={**self.config, **config})

    async def run(self, plan: list, **config) -> None:
        async with self.hermes(**config) as hermes:
            await hermes.run(json.dumps(plan), session="s")

    def cli(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """The command line, in a process of its own, with the settings in its file."""
        import yaml

        nested: dict = {}
        for key, value in self.config.items():
            section, _, name = key.partition(".")
            nested.setdefault(section, {})[name] = value
        (self.home / "config.yaml").write_text(yaml.safe_dump(nested))
        environ = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
        return subprocess.run(
            [sys.executable, "-m", "hermes_core", "--provider", "planned", *words],
            env={**environ, "HERMES_HOME": str(self.home), "HERMES_TESTING": "1", **env},
            cwd=self.work, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip


def plan(*steps) -> str:
    return json.dumps([*steps, "done"])


async def by_command_line(house: House) -> None:
    await asyncio.to_thread(house.cli, "-z", plan(house.call))


async def by_command_line_with_yolo(house: House) -> None:
    await asyncio.to_thread(house.cli, "--yolo", "-z", plan(house.call))


async def by_embedding(house: House) -> None:
    await house.run([house.call, "done"])


async def by_agent(house: House) -> None:
    def go() -> None:
        with Agent(home=house.home, provider="planned", config=house.config) as agent:
            agent.run(plan(house.call))

    await asyncio.to_thread(go)


async def by_platform(house: House) -> None:
    class Room(Platform):
        name = "room"

        async def receive(self):
            said = Message(role="user", parts=(Text(text=plan(house.call)),))
            yield Envelope(platform="room", account="", event_id="1", chat="c", sender="p", message=said)

        async def send(self, chat, message, key):
            return None

    async with house.hermes() as hermes:
        await Carrier(hermes.runtime, Room()).serve()


async def by_queue(house: House) -> None:
    async with house.hermes() as hermes:
        await hermes.run(plan({"note": {"what": "first"}}), session="s")
        await hermes.queue("s", plan(house.call))
        async for _ in hermes.follow("s"):
            pass


async def by_child(house: House) -> None:
    await house.run([{"hand": {"goals": [plan(house.call)]}}, "done"])


async def by_grandchild(house: House) -> None:
    goal = plan({"hand": {"goals": [plan(house.call)]}})
    await house.run([{"hand": {"goals": [goal], "levels": 1}}, "done"])


async def after_a_crash(house: House) -> None:
    died = await asyncio.to_thread(house.cli, "-z", plan(house.call), HERMES_DIE_AT="replied")
    assert died.returncode == -9
    assert not house.canary.exists()
    await asyncio.to_thread(house.cli, "resume")


async def after_a_crash_of_a_child(house: House) -> None:
    words = plan({"hand": {"goals": [plan(house.call)]}})
    await asyncio.to_thread(house.cli, "-z", words, HERMES_CHILD_DIE_AT="replied")
    assert not house.canary.exists()
    await house.run([{"hand": {"goals": [plan(house.call)]}}, "done"])


async def by_tool_search(house: House) -> None:
    call = {"tool_call": {"name": "terminal", "arguments": house.call["terminal"]}}
    await house.run([call, "done"], **{"agent.tool_search": "on", "agent.core_toolsets": ["risky"]})


async def among_others(house: House) -> None:
    batch = [["note", {"what": "a"}], ["terminal", house.call["terminal"]], ["note", {"what": "b"}]]
    await house.run([batch, "done"])


DOORS = [
    by_command_line, by_command_line_with_yolo, by_embedding, by_agent, by_platform, by_queue, by_child, by_grandchild,
    after_a_crash, after_a_crash_of_a_child, by_tool_search, among_others,
]  # fmt: skip


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
async def test_every_door_leads_past_the_policy(tmp_path, door, barrier) -> None:
    house = House(tmp_path, barrier)
    await door(house)
    assert house.canary.exists() is (barrier == "none")


@pytest.mark.parametrize("more", [{"background": True}, {"pty": True}, {"timeout": 5}, {"workdir": "/tmp"}])
async def test_no_argument_of_the_terminal_leads_around_it(tmp_path, more) -> None:
    house = House(tmp_path, "rule")
    await house.run([{"terminal": {**house.call["terminal"], **more}}, "done"])
    assert not house.canary.exists()


SPELLINGS = [
    "cd / && touch {}", "/usr/bin/touch {}", "sh -c 'touch {}'", "env touch {}", "true; touch {}", "echo $(touch {})",
    "nohup touch {}", "if true; then touch {}; fi", "eval touch {}", "echo x | xargs touch {}", "(touch {})",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_deny_rule_holds_however_the_command_is_spelled(tmp_path, spelling) -> None:
    house = House(tmp_path, "rule")
    await house.run([{"terminal": {"command": spelling.format(house.canary)}}, "done"])
    assert not house.canary.exists()
