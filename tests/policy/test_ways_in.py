"""Every way in leads past the one point: what is denied does not happen, whichever way it comes in.

One command, ``touch CANARY``, in a process of its own where that is how the way in works, with a canary behind each
barrier. One more has none before it: it must appear, or the test would prove nothing.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_agent import Agent
from hermes_core.agent.console import serve
from hermes_core.distribution import HERMES
from hermes_core.embed import Hermes
from hermes_core.kinds import Platform
from hermes_core.types import Envelope, Message, Text

pytestmark = pytest.mark.long

PLANNED = Path(__file__).parents[1] / "children" / "planned.py"
GATE = """# /// hermes
# api = 1
# name = "gate"
# kind = "tool"
# summary = "A gate that says no, breaks or talks nonsense, as the name of the canary wants it."
# [hooks]
# use = ["pre_tool_call"]
# ///
from hermes_core import hookimpl
from hermes_core.types import Verdict


@hookimpl
async def pre_tool_call(call):
    command = str(call.arguments) if call.name == "terminal" else ""
    if "canary-denied" in command:
        return Verdict(outcome="deny", reason="no")
    if "canary-broken" in command:
        raise RuntimeError("broken")
    return "yes" if "canary-nonsense" in command else None
"""
RULES = ["terminal(touch *canary-ruled*)"]
BARRIERS = ("denied", "broken", "nonsense", "ruled")


class House:
    """A home in which nothing is asked, a model that does what it is told, and a canary for each barrier and none."""

    def __init__(self, folder: Path, *rules: str, gate: str = GATE) -> None:
        self.home, self.work = folder / "home", folder / "work"
        (self.home / "plugins").mkdir(parents=True)
        self.work.mkdir()
        self.config = {"policy.mode": "off", "memory.provider": "", "terminal.cwd": str(self.work)}
        self.config |= {"policy.deny": list(rules)} if rules else {}
        shutil.copy(PLANNED, self.home / "plugins" / "planned.py")
        if gate:
            (self.home / "plugins" / "gate.py").write_text(gate)
        home = HERMES.home(None, self.home)
        index = HERMES.installed(home)
        for label in ("provider/planned", *(["tool/gate"] if gate else [])):
            HERMES.consent(home).enable(index.get(label))
        self.calls = [["terminal", {"command": f"touch {self.canary(name)}"}] for name in (*BARRIERS, "free")]

    def canary(self, name: str) -> Path:
        return self.work / f"canary-{name}"

    @property
    def canaries(self) -> list[str]:
        """Those that are there."""
        return sorted(path.name.removeprefix("canary-") for path in self.work.glob("canary-*"))

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
    await asyncio.to_thread(house.cli, "-z", plan(house.calls))


async def by_command_line_with_yolo(house: House) -> None:
    await asyncio.to_thread(house.cli, "--yolo", "-z", plan(house.calls))


async def by_embedding(house: House) -> None:
    await house.run([house.calls, "done"])


async def by_agent(house: House) -> None:
    def go() -> None:
        with Agent(home=house.home, provider="planned", config=house.config, toolsets=["terminal"]) as agent:
            agent.run(plan(house.calls))

    await asyncio.to_thread(go)


async def by_platform(house: House) -> None:
    class Room(Platform):
        name = "room"

        async def receive(self):
            said = Message(role="user", parts=(Text(text=plan(house.calls)),))
            yield Envelope(platform="room", account="", event_id="1", chat="c", sender="p", message=said)

        async def send(self, chat, message, key):
            return None

    async with house.hermes() as hermes:
        await serve(hermes.runtime, Room())


async def by_queue(house: House) -> None:
    async with house.hermes() as hermes:
        await hermes.run(plan({"note": {"what": "first"}}), session="s")
        await hermes.queue("s", plan(house.calls))
        async for _ in hermes.follow("s"):
            pass


async def by_child(house: House) -> None:
    await house.run([{"hand": {"goals": [plan(house.calls)]}}, "done"])


async def by_grandchild(house: House) -> None:
    goal = plan({"hand": {"goals": [plan(house.calls)]}})
    await house.run([{"hand": {"goals": [goal], "levels": 1}}, "done"])


async def after_a_crash(house: House) -> None:
    died = await asyncio.to_thread(house.cli, "-z", plan(house.calls), HERMES_DIE_AT="replied")
    assert died.returncode == -9
    assert house.canaries == []
    await asyncio.to_thread(house.cli, "resume")


async def after_a_crash_of_a_child(house: House) -> None:
    words = plan({"hand": {"goals": [plan(house.calls)]}})
    died = await asyncio.to_thread(house.cli, "-z", words, HERMES_DIE_AT="replied:2")  # the child's first reply
    assert died.returncode == -9
    assert house.canaries == []
    await asyncio.to_thread(house.cli, "resume")


async def by_tool_search(house: House) -> None:
    calls = [["tool_call", {"name": name, "arguments": arguments}] for name, arguments in house.calls]
    await house.run([calls, "done"], **{"agent.tool_search": "on", "agent.core_toolsets": ["risky"]})


async def among_others(house: House) -> None:
    await house.run([[["note", {"what": "a"}], *house.calls, ["note", {"what": "b"}]], "done"])


WAYS_IN = [
    by_command_line, by_command_line_with_yolo, by_embedding, by_agent, by_platform, by_queue, by_child, by_grandchild,
    after_a_crash, after_a_crash_of_a_child, by_tool_search, among_others,
]  # fmt: skip


@pytest.mark.parametrize("way_in", WAYS_IN, ids=lambda way_in: way_in.__name__)
async def test_every_way_in_leads_past_the_policy(tmp_path, way_in) -> None:
    house = House(tmp_path, *RULES)
    await way_in(house)
    assert house.canaries == ["free"]


async def test_no_argument_of_the_terminal_leads_around_it(tmp_path) -> None:
    house = House(tmp_path, "terminal(touch *)", gate="")
    ways = [{"background": True}, {"pty": True}, {"timeout": 5}, {"workdir": "/tmp"}]
    calls = [["terminal", {"command": f"touch {house.canary(next(iter(way)))}", **way}] for way in ways]
    await house.run([calls, "done"])
    assert house.canaries == []


SPELLINGS = {
    "elsewhere": "cd / && touch {}", "path": "/usr/bin/touch {}", "shell": "sh -c 'touch {}'", "env": "env touch {}",
    "second": "true; touch {}", "substitution": "echo $(touch {})", "nohup": "nohup touch {}",
    "condition": "if true; then touch {}; fi", "eval": "eval touch {}", "xargs": "echo x | xargs touch {}",
    "subshell": "(touch {})",
}  # fmt: skip


@pytest.mark.parametrize("rules", [["terminal(touch *)"], []], ids=["rule", "none"])
async def test_a_deny_rule_holds_however_the_command_is_spelled(tmp_path, rules) -> None:
    house = House(tmp_path, *rules, gate="")
    lines = [spelling.format(house.canary(name)) for name, spelling in SPELLINGS.items()]
    await house.run([[["terminal", {"command": line}] for line in lines], "done"])
    assert house.canaries == ([] if rules else sorted(SPELLINGS.keys() - {"nohup"}))  # the tool detaches nothing
