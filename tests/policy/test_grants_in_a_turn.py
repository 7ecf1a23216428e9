"""A remembered yes as the judge uses it: for the call it was given to, and for nothing else that a turn brings."""

from typing import Any

import pytest
from attrs import frozen

import hermes_tool_guard
from hermes_core.kinds import tool
from hermes_core.testing import Call, FakeBackend, FakeWorkspace
from hermes_core.testing.bench import Bench
from hermes_core.types import Effect, Principal, Verdict

ME, BEN = Principal(), Principal(person="ben")


def lasting(choice: str) -> Verdict:
    return Verdict(outcome="allow", choice=choice, by="me")


def run(command: str, workdir: str = "", tool: str = "run") -> Call:
    return Call(tool, {"command": command, "workdir": workdir})


async def granted(room: Any, call: Call, choice: str) -> None:
    """Have a person allow a call for longer, and say no to all that is asked later."""
    room.offline()
    before, room.answer = room.answer, lasting(choice)
    told = await room.turn(call)
    assert "was not run" not in told[0]
    room.answer, room.asked, room.did = before, [], []


PUSH = run("git push origin main")
LATER = [
    (PUSH, True),
    (run("git push origin dev"), True),
    (run("git push origin main", "sub"), True),
    (run("npm publish"), False),
    (run("git push"), False),
    (run("git push --force origin main"), False),
    (run("git push origin main; npm publish"), False),
    (run("git push origin main", ".."), False),
    (run("git push origin main", "/srv"), False),
    (Call("send", {"text": "git push origin main"}), False),
    (Call("write", {"path": "/srv/x"}), False),
]


@pytest.mark.parametrize("choice", ["session", "always"])
async def test_a_lasting_yes_for_one_command_allows_no_other(room, choice) -> None:
    await granted(room, PUSH, choice)
    told = await room.turn(*(call for call, _ in LATER))
    wrong = [(call, said) for (call, free), said in zip(LATER, told, strict=True) if (said == "ran") is not free]
    assert not wrong
    assert len(room.did) == sum(free for _, free in LATER)
    assert len(room.asked) == sum(not free for _, free in LATER)


async def test_a_yes_for_once_is_not_remembered(room) -> None:
    await granted(room, PUSH, "once")
    [told] = await room.turn(PUSH)
    assert told == "run was not run: the person said no"


async def test_a_yes_for_a_conversation_holds_in_no_other_and_one_for_good_does(room) -> None:
    await granted(room, PUSH, "session")
    await granted(room, run("npm publish"), "always")
    push, publish = await room.turn(PUSH, run("npm publish"), session="another")
    assert (push, publish) == ("run was not run: the person said no", "ran")


@pytest.mark.parametrize(("first", "second"), [(ME, BEN), (BEN, ME)], ids=["owner first", "guest first"])
async def test_a_yes_of_one_person_is_nobody_elses(room, first, second) -> None:
    room.hermes.configure({"roles.trusted_with_shell": ["*"]})
    room.hermes.tmp_plugin("hermes_tool_roles")
    room.offline()
    room.answer = lasting("always")
    publish = run("npm publish", str(room.hermes.workspace.folder))
    await room.turn(publish, session="first", owner=first)
    room.answer = Verdict(outcome="deny", reason="not I")
    assert await room.turn(publish, session="first", owner=first) == ["ran"]
    assert await room.turn(publish, session="second", owner=second) == ["run was not run: not I"]
    assert len(room.asked) == 2


@pytest.mark.parametrize(("backend", "told"), [("fake", "ran"), ("far", "run was not run: the person said no")])
async def test_a_yes_holds_after_a_restart_on_the_machine_it_was_given_for(
    room, scripted, tmp_path, backend, told
) -> None:
    await granted(room, PUSH, "always")
    await room.hermes.close()
    later = Bench(tmp_path / "home")
    later.tmp_plugin(FakeBackend(later.workspace, name="far"), name="far")
    later.tmp_plugin(hermes_tool_guard.judge_command, name="guard")
    later.configure({"terminal.backend": backend})
    again = type(room)(later, scripted)
    again.offline()
    async with later:
        assert await again.turn(PUSH) == [told]


async def test_a_yes_of_a_guest_is_for_the_machine_that_guests_are_given(room) -> None:
    room.hermes.tmp_plugin(FakeBackend(FakeWorkspace(), name="far"), name="far")
    room.hermes.configure({"roles.backend": "far", "roles.trusted_with_shell": ["*"]})
    room.hermes.tmp_plugin("hermes_tool_roles")
    await room.turn(PUSH, owner=BEN)
    assert [question.covers for question in room.asked] == ["exactly `git push origin main` in /work (far)"]


@frozen
class To:
    """Whom, and what."""

    to: str
    text: str


async def test_a_call_that_is_no_command_is_remembered_with_its_tool_and_all_its_arguments(room) -> None:
    @tool(effects={Effect.SEND}, touches=lambda _: ())
    async def mail(letter: To) -> str:
        """Send a letter."""
        return "sent"

    @tool(effects={Effect.SEND}, touches=lambda _: ())
    async def post(letter: To) -> str:
        """Post a letter."""
        return "sent"

    room.hermes.tmp_plugin(mail, post)
    first = Call("mail", {"to": "ann", "text": "hi"})
    await granted(room, first, "session")
    told = await room.turn(
        first,
        Call("mail", {"to": "ann", "text": "ho"}),
        Call("mail", {"to": "bob", "text": "hi"}),
        Call("post", {"to": "ann", "text": "hi"}),
    )
    assert [one == "sent" for one in told] == [True, False, False, False]


async def test_a_yes_to_write_in_a_folder_is_for_that_folder(room, tmp_path) -> None:
    outside = tmp_path / "elsewhere"
    (outside / "in").mkdir(parents=True)
    await granted(room, Call("write", {"path": str(outside / "in" / "a.txt")}), "always")
    paths = [outside / "in" / "b.txt", outside / "in" / "deep" / "c.txt", outside / "a.txt", outside / "inn" / "a.txt"]
    told = await room.turn(*(Call("write", {"path": str(path)}) for path in paths))
    assert [one == "written" for one in told] == [True, True, False, False]


async def test_a_gate_that_says_more_of_a_command_than_was_granted_asks_again(room) -> None:
    """The same words may do more later: what they name has changed."""
    from hermes_core.hooks import hookimpl

    more = {"value": frozenset({Effect.EXECUTE})}

    @hookimpl
    async def pre_tool_call(call: Any) -> Verdict | None:
        return Verdict(outcome="ask", reason="says the gate", effects=more["value"])

    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    await granted(room, PUSH, "always")
    assert await room.turn(PUSH) == ["ran"]
    more["value"] |= {Effect.CONFIGURE}
    assert await room.turn(PUSH) == ["run was not run: the person said no"]


@pytest.mark.parametrize(
    ("rule", "free"),
    [
        ("run(npm test)", ["npm test"]),
        ("run(npm *)", ["npm test", "npm publish"]),
        ("other(npm test)", []),
        ("run", None),
    ],
)
async def test_what_the_settings_allow_is_no_more_than_they_say(room, rule, free) -> None:
    room.hermes.configure({"policy.allow": [rule]})
    room.offline()
    commands = ["npm test", "npm publish", "npm test; git push", "npm test > x", "git push"]
    told = await room.turn(*(run(command) for command in commands))
    ran = [command for command, said in zip(commands, told, strict=True) if said == "ran"]
    assert ran == (commands if free is None else free)


async def test_mode_off_asks_nothing_and_remembers_nothing(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    room.offline()
    assert await room.turn(PUSH) == ["ran"]
    room.hermes.runtime.policy.set_mode("s", "ask")
    assert await room.turn(PUSH) == ["run was not run: the person said no"]
    assert len(room.asked) == 1
