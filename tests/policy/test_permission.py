"""``/permission``, ``hermes approvals`` and ``hermes grants``: what a person sees, changes and takes back."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from attrs import frozen

from hermes_core.errors import UserError
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Effect, Returned, Verdict


@frozen
class Line:
    command: str


@tool(effects=[Effect.EXECUTE], touches=lambda _line: ())
async def shell(line: Line) -> str:
    """Run a command."""
    return "ran"


class Chat:
    """A conversation with the slash command, and the questions that came."""

    def __init__(self, hermes, scripted, *steps) -> None:
        self.hermes, self.asked = hermes, []

        async def ask(question):
            self.asked.append(question.subject)
            return Verdict(outcome="allow", choice="always", by="me")

        hermes._ask = ask
        hermes.tmp_plugin(scripted(*steps))
        hermes.tmp_plugin(shell)
        hermes.tmp_plugin("hermes_tool_commands")

    async def say(self, words: str, session: str = "a") -> str:
        taken = (await self.hermes.runtime.sessions.take(session, "test", self.hermes.runtime.owner)).session
        return str(await self.hermes.slash(f"/permission {words}", taken))

    async def turn(self, session: str = "a") -> list[bool]:
        events = [e async for e in self.hermes.turn("go", session=session)]
        return [not e.result.failed for e in events if isinstance(e, Returned)]


async def test_the_mode_is_that_of_one_session(hermes, scripted) -> None:
    call = Call("shell", {"command": "npm publish"})
    chat = Chat(hermes, scripted, *[call, "ok"] * 3)
    assert (await chat.say("")).startswith("Mode: ask, a person decides what is risky.")
    assert "Hard blocks, policy.deny and what a plugin refuses still hold" in await chat.say("off")
    assert await chat.turn("a") == [True]
    assert chat.asked == [], "session a asks nothing"
    assert "Mode: ask" in await chat.say("", "b")
    assert await chat.turn("b") == [True]
    assert len(chat.asked) == 1
    assert "Mode: ask" in await chat.say("ask")
    assert await chat.turn("a") == [True]
    assert len(chat.asked) == 1, "what was allowed for good in b holds here too"
    with pytest.raises(UserError, match="There is no mode 'never'"):
        await chat.say("never")


async def test_what_was_granted_is_listed_and_taken_back(hermes, scripted) -> None:
    chat = Chat(hermes, scripted, *[Call("shell", {"command": "npm publish"}), "ok"] * 2)
    assert await chat.say("grants") == "You granted nothing beyond single calls."
    await chat.turn()
    shown = await chat.say("grants")
    assert "exactly `npm publish` in" in shown
    number = shown.split("\n")[1].split()[0]
    assert "taken back" in await chat.say(f"forget {number}")
    for wrong in ("forget", "forget x", f"forget {number}"):
        with pytest.raises(UserError):
            await chat.say(wrong)
    await chat.turn()
    assert len(chat.asked) == 2


async def test_a_mode_that_is_locked_stays(tmp_path) -> None:
    from hermes_core.embed import Distribution, Hermes

    acme = Distribution(name="acme", locked={"policy.mode": "ask"})
    async with Hermes(acme, home=tmp_path, yolo=True) as locked:
        assert locked.runtime.policy.mode() == "ask"
        with pytest.raises(UserError, match="it is locked"):
            locked.runtime.policy.set_mode("s", "off")


OTHER = """
import contextlib, io, json, sys
from hermes_core.cli.main import _status
said = []
for words in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = _status(None, words)
    said.append([status, out.getvalue(), err.getvalue()])
json.dump(said, sys.stdout)
"""


@pytest.mark.parametrize(
    ("choice", "holds", "told"),
    [("always", "always", "From now on allowed"), ("session", "session s", "Allowed until this conversation ends")],
)
@pytest.mark.long
def test_another_terminal_answers_what_waits(tmp_path, scripted, monkeypatch, choice, holds, told) -> None:
    """The turn waits in one process, the command line answers in another."""
    monkeypatch.setattr("hermes_core.agent.asking._LOOK", 0.01)
    from hermes_core.testing.bench import Bench

    bench = Bench(tmp_path / "home")

    def other(commands: list[tuple[str, ...]]) -> list[tuple[int, str, str]]:
        environ = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
        done = subprocess.run(
            [sys.executable, "-c", OTHER], env={**environ, "HERMES_HOME": str(tmp_path / "home")},
            input=json.dumps(commands), stdout=subprocess.PIPE, text=True, timeout=60, check=True,
        )  # fmt: skip
        return [tuple(said) for said in json.loads(done.stdout)]

    async def never(_question):
        await asyncio.Event().wait()

    async def go() -> list:
        bench._ask = never
        bench.tmp_plugin(scripted(Call("shell", {"command": "npm publish"}), "ok"))
        bench.tmp_plugin(shell)
        async with bench as hermes:
            turn = asyncio.create_task(_all(hermes.turn("go", session="s")))
            store = await hermes.runtime.store()
            while not (found := await store.approvals.list(hermes.runtime.owner)):
                await asyncio.sleep(0.01)
            said = await asyncio.to_thread(other, _commands(found[0].id, choice))
            return [said, [e.result.failed for e in await turn if isinstance(e, Returned)]]

    (listed, shown, wrong, allowed, late, grants, forgotten), failed = asyncio.run(go())
    assert failed == [False]
    row = json.loads(listed[1])
    assert (row["call"], row["state"], row["session_id"]) == ("$ npm publish", "open", "s")
    assert "Call: $ npm publish" in shown[1]
    assert "would allow: exactly `npm publish` in" in shown[1]
    assert (wrong[0], "no approval named 'zzz'" in wrong[2]) == (2, True)
    assert allowed[1].startswith(f"Allowed ({choice}): $ npm publish\n{told}: exactly `npm publish` in ")
    assert (late[0], f"already answered: allowed ({choice}) by" in late[2]) == (2, True)
    assert json.loads(grants[1])["holds"] == holds
    assert forgotten[2] == "Grant 1 is taken back.\n"


def _commands(approval: str, choice: str) -> list[tuple[str, ...]]:
    return [
        ("approvals", "--json"), ("approvals", "show", approval[:6]), ("approvals", "allow", "zzz"),
        ("approvals", "allow", approval, f"--{choice}"), ("approvals", "deny", approval), ("grants", "--json"),
        ("grants", "forget", "1"),
    ]  # fmt: skip


async def _all(events) -> list:
    return [event async for event in events]
