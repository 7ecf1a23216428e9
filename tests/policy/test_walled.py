"""What the table in ``test_what_asks`` does not say of a wall: deny rules, tools that know none, what is lost."""

from pathlib import Path
from typing import Any

import pytest

from hermes_core.agent.policy.judge import Policy
from hermes_core.agent.policy.taint import Seen
from hermes_core.kinds import Tool
from hermes_core.options import option, settings
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Question, Session, ToolCall, Verdict
from hermes_tool_guard.gate import judge, look

OUTSIDE = "sudo ls"


@settings
class Command:
    """What the model gives."""

    command: str = option("")
    wall: bool = option("", default=True)


@settings
class Unaware:
    """What it gives to a tool that knows no wall."""

    command: str = option("")


async def _run(*_: object) -> str:
    return ""


class Guards(Dispatch):
    """The guard, and no other plugin."""

    async def decide(self, name: str, **told: Any) -> Verdict:  # type: ignore[override]
        if name == "judge_command":
            return await look(told["call"], told["workspace"], told["protected"])
        call, place, protected = told["call"], told["workspace"], told["protected"]
        found = await judge(call, place, "/home/me/.hermes", protected, walled=told["walled"])
        return found or Verdict(outcome="allow")


class Court:
    """A policy, a walled folder, and whether a person is there."""

    def __init__(self, folder: Path, mode: str = "ask") -> None:
        self.place = FakeWorkspace(folder=folder)
        self.place.features = frozenset({Feature.WALLED, Feature.LOCAL})
        self.policy = Policy(Guards(), mode=mode, deny=("t(make deny*)",), allow=(), guarded=())
        self.asked: list[Question] = []

    async def __call__(
        self, command: str, *, wall: bool = True, tainted: bool = False, there: bool = True, params: type = Command
    ) -> Verdict:
        async def ask(question: Question, offer: object) -> Verdict:
            self.asked.append(question)
            return Verdict(outcome="allow", by="person")

        tool = Tool(name="t", description="x", params=params, run=_run, effects=frozenset({Effect.EXECUTE}))
        given = {"command": command, **({} if wall else {"wall": False})}
        call, session = ToolCall(id="1", name="t", arguments=given), Session(id="s", origin="test", untrusted=tainted)
        permit = ask if there else None
        return await self.policy.judge(session, call, tool, params(**given), self.place, permit, None, Seen())


@pytest.mark.parametrize("wall", [True, False])
@pytest.mark.parametrize("command", ["rm -rf /", "rm -rf ~", "make deny"])
async def test_hard_blocks_and_deny_rules_hold_on_both_sides(tmp_path: Path, command: str, wall: bool) -> None:
    assert (await Court(tmp_path, "off")(command, wall=wall)).outcome == "deny"


@pytest.mark.parametrize("command", ["rm -rf .git", "rm -rf *", "shred x"])
@pytest.mark.parametrize("tainted", [False, True])
async def test_what_no_snapshot_brings_back_asks_inside_too(tmp_path: Path, command: str, tainted: bool) -> None:
    court = Court(tmp_path)
    assert (await court(command, tainted=tainted, there=False)).outcome == "deny"
    assert (await court("rm -rf build", tainted=tainted, there=False)).outcome == "allow"


async def test_a_tool_that_knows_no_wall_is_judged_as_if_there_were_none(tmp_path: Path) -> None:
    verdict = await Court(tmp_path)(OUTSIDE, there=False, params=Unaware)
    assert verdict.outcome == "deny"


@pytest.mark.parametrize(("wall", "brings"), [(True, False), (False, True)])
async def test_what_a_walled_command_gives_comes_from_outside_only_if_its_tool_says_so(
    tmp_path: Path, wall: bool, brings: bool
) -> None:
    court = Court(tmp_path)
    tool = Tool(name="t", description="x", params=Command, run=_run, effects=frozenset({Effect.EXECUTE}))
    params, session = Command(command="x", wall=wall), Session(id="s", origin="test")
    assert court.policy.brings_in(session, tool, params, court.place, Verdict(outcome="allow")) is brings
