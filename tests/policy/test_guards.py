"""Who says what commands do: without the word of a guard each call that runs something needs a person's yes."""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from hermes_core.hooks import hookimpl
from hermes_core.testing import Call
from hermes_core.types import CommandPart, Effect, Feature, Message, Principal, Protected, Text, ToolCall, Verdict

YES, ALWAYS = Verdict(outcome="allow", choice="once"), Verdict(outcome="allow", choice="always")
MAKE, LOOK = Call("run", {"command": "make"}), Call("look", {"path": "a.txt"})
PAGE = Message(role="user", parts=(Text(text="A page."),), untrusted=True)


class Fault(Exception):
    """Something broke."""


def guards(room: Any, *words: Callable[[ToolCall, Protected], Any]) -> None:
    """Put in guards that say this of a call, in place of the real one."""

    def guard(word: Callable[[ToolCall, Protected], Any]) -> Any:
        @hookimpl
        async def judge_command(call: ToolCall, protected: Protected) -> Verdict | None:
            said = word(call, protected)
            return await said if asyncio.iscoroutine(said) else said

        return judge_command

    room.hermes._put_in = [one for one in room.hermes._put_in if one.label != "tool/guard"]
    for name, word in zip("abc", words, strict=False):
        room.hermes.tmp_plugin(guard(word), name=name)


def says(**word: Any) -> Callable[[ToolCall, Protected], Verdict]:
    return lambda call, protected: Verdict(**{"outcome": "allow", "commands": (), **word})


def silent(*_: object) -> None:
    return None


def raises(*_: object) -> Any:
    raise Fault("something broke")


async def hangs() -> None:
    await asyncio.Event().wait()


def part(text: str, **more: Any) -> CommandPart:
    return CommandPart(text=text, **more)


# --- no guard -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ask", "smart"])
async def test_without_a_guard_a_command_needs_a_yes_that_is_for_once(room, mode) -> None:
    room.hermes.configure({"policy.mode": mode, "policy.allow": ["run", "run(make)", "run(*)", "*"]})
    guards(room, silent)
    room.answer = YES
    room.offline()
    assert await room.turn(MAKE, MAKE) == ["ran", "ran"]
    assert [question.choices for question in room.asked] == [("once", "deny")] * 2
    why = "no plugin says what commands do, see `hermes doctor`"
    assert room.risks == [f"runs a command on this machine; {why}"] * 2
    assert await room.turn(LOOK) == ["read"]


async def test_without_a_guard_nothing_runs_where_nobody_is_asked(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    guards(room, silent)
    room.answer = YES
    told = await room.turn(MAKE, Call("play", {"path": "x.sh"}))
    assert all("nobody is asked about, and no plugin says what commands do" in one for one in told)
    assert (room.did, room.asked) == ([], [])
    assert await room.turn(LOOK, Call("send", {"text": "hi"})) == ["read", "sent"]


async def test_without_a_guard_and_with_nobody_there_the_answer_is_no(room) -> None:
    guards(room, silent)
    room.answer = None
    [told] = await room.turn(MAKE)
    assert told.endswith("Nobody is here to ask. Run it in `hermes`")


async def test_a_yes_that_was_given_while_there_was_a_guard_is_none_without_one(room) -> None:
    there = [True]
    guards(room, lambda *_: Verdict(outcome="allow", commands=(), lasting=True) if there[0] else None)
    room.offline()
    room.answer = ALWAYS
    assert await room.turn(MAKE) == ["ran"]
    room.answer = Verdict(outcome="deny")
    assert await room.turn(MAKE) == ["ran"]
    there[0] = False
    [told] = await room.turn(MAKE)
    assert told.startswith("run was not run")
    assert len(room.asked) == 2


async def test_without_a_guard_an_isolated_workspace_asks_too(room) -> None:
    guards(room, silent)
    room.hermes.workspace.features |= {Feature.ISOLATED}
    [told] = await room.turn(MAKE)
    assert told == "run was not run: the person said no"
    assert room.risks == ["runs a command; no plugin says what commands do, see `hermes doctor`"]


async def test_without_a_guard_a_tainted_conversation_hears_of_both(room) -> None:
    guards(room, silent)
    await room.turn(MAKE, said=PAGE)
    [risk] = room.risks
    assert "which may have asked for it; no plugin says what commands do" in risk


async def test_without_a_guard_a_gate_and_the_rules_say_no_all_the_same(room) -> None:
    @hookimpl
    async def pre_tool_call(call: ToolCall) -> Verdict | None:
        return Verdict(outcome="deny", reason="says the gate") if "gated" in str(call.arguments) else None

    room.hermes.configure({"policy.deny": ["run(rm *)"]})
    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    guards(room, silent)
    gated, ruled = await room.turn(Call("run", {"command": "gated"}), Call("run", {"command": "rm x"}))
    assert "says the gate" in gated
    assert "policy.deny" in ruled
    assert room.asked == []


# --- a guard that is none -------------------------------------------------------------------------------------------

NONE = {
    "raises": raises,
    "hangs": lambda *_: hangs(),
    "exits": lambda *_: exec("raise SystemExit"),
    "says yes": lambda *_: "yes",
    "says true": lambda *_: True,
    "an outcome that is none": says(outcome="maybe"),
    "parts that are none": says(commands="make"),
    "a part that is a text": says(commands=("make",)),
    "a part without a text": lambda *_: Verdict(outcome="allow", commands=(part(None),)),
    "effects that are none": says(effects=frozenset({"all"})),
}


@pytest.mark.parametrize("word", NONE.values(), ids=NONE)
async def test_a_guard_that_breaks_hangs_or_talks_nonsense_is_none_and_is_named(room, word) -> None:
    room.hermes._options["strict"] = False
    room.hermes.configure({"policy.allow": ["run"]})
    guards(room, word)
    room.hermes.runtime.dispatch._deadlines["decide"] = 0.05
    room.offline()
    room.answer = YES
    assert await room.turn(MAKE) == ["ran"]
    [question] = room.asked
    assert question.choices == ("once", "deny")
    assert "; tool/a could not decide: " in question.risk
    room.hermes.runtime.policy.set_mode("other", "off")
    [told] = await room.turn(MAKE, session="other")
    assert "run was not run: it runs a command that nobody is asked about, and tool/a could not decide" in told
    assert [fault.plugin for fault in room.hermes.runtime.dispatch.faults] == ["tool/a"]


@pytest.mark.parametrize("turned", [False, True], ids=["one first", "the other first"])
async def test_beside_a_guard_that_breaks_the_other_ones_no_is_heard_and_its_yes_is_not(room, turned) -> None:
    room.hermes._options["strict"] = False

    def other(call: ToolCall, _: Protected) -> Verdict:
        if call.arguments["command"] == "rm":
            return Verdict(outcome="deny", hard=True, reason="it eats the cellar")
        return Verdict(outcome="allow", commands=(), effects=frozenset({Effect.READ_FILES}), lasting=True)

    guards(room, *((other, raises) if turned else (raises, other)))
    calls = Call("run", {"command": "ls"}), Call("run", {"command": "rm"})
    asked, hard = await room.turn(*calls)
    assert asked == "run was not run: the person said no"
    assert "never allowed, in any mode" in hard
    [question] = room.asked
    assert question.choices == ("once", "deny")
    assert f"tool/{'b' if turned else 'a'} could not decide" in question.risk
    room.hermes.runtime.policy.set_mode("other", "off")
    assert "that nobody is asked about" in (await room.turn(*calls, session="other"))[0]


# --- what it says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ask", "smart", "off"])
async def test_a_hard_word_is_the_last_one(room, mode) -> None:
    room.hermes.configure({"policy.mode": mode, "policy.allow": ["*"], "policy.deny": ["run(*)"]})
    guards(room, says(outcome="deny", hard=True, reason="it eats the cellar"))
    room.answer = YES
    [told] = await room.turn(MAKE)
    assert told == "run was not run: 'make' was blocked because it eats the cellar. This is never allowed, in any mode."
    assert (room.did, room.asked) == ([], [])


async def test_what_is_hard_is_denied_whatever_other_guards_say(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    hard = {"outcome": "deny", "hard": True, "reason": "it eats the cellar"}
    guards(room, says(outcome="ask", reason="is odd"), says(**hard), says())
    [told] = await room.turn(MAKE)
    assert "never allowed, in any mode" in told


@pytest.mark.parametrize("outcome", ["allow", "ask"])
async def test_only_a_deny_can_be_hard(room, outcome) -> None:
    """What means nothing is refused where it is made, so that its author is told and nobody believes in it."""
    with pytest.raises(ValueError, match="only a deny is hard"):
        Verdict(outcome=outcome, hard=True)

    @hookimpl
    async def judge_command():
        return Verdict(outcome=outcome, hard=True, commands=())

    room.hermes.tmp_plugin(judge_command, name="odd")
    room.hermes._options["strict"] = False
    [told] = await room.turn(MAKE)
    assert "was not run" in told
    assert "only a deny is hard" in room.asked[0].risk


WORDS = [
    # what the guard says, what is asked in mode ask, whether it then runs without a yes
    ({}, ["runs a command on this machine"], False),
    ({"outcome": "ask", "reason": "is odd"}, ["is odd"], False),
    ({"outcome": "ask"}, ["a plugin wants a person to decide"], False),
    ({"outcome": "deny", "reason": "is wrong"}, [], False),
    ({"effects": frozenset({Effect.READ_FILES})}, [], True),
    ({"effects": frozenset({Effect.SEND})}, [], True),
    ({"outcome": "ask", "effects": frozenset({Effect.SEND})}, ["a plugin wants a person to decide"], False),
]


@pytest.mark.parametrize(("word", "asked", "runs"), WORDS, ids=range(len(WORDS)))
async def test_all_else_it_says_is_a_gates_word_and_a_bare_allow_is_none(room, word, asked, runs) -> None:
    guards(room, says(**word))
    room.offline()
    [told] = await room.turn(MAKE)
    assert (room.risks, told == "ran") == (asked or [], runs)


async def test_a_gates_word_stands_beside_the_one_of_a_guard(room) -> None:
    @hookimpl
    async def pre_tool_call(call: ToolCall) -> Verdict | None:
        return Verdict(outcome="ask", reason="says the gate") if "odd" in str(call.arguments) else None

    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    guards(room, says(effects=frozenset({Effect.READ_FILES})))
    odd, even = await room.turn(Call("run", {"command": "odd"}), Call("run", {"command": "even"}))
    assert (odd, even) == ("run was not run: the person said no", "ran")
    assert room.risks == ["says the gate"]


async def test_rules_see_the_parts_that_any_guard_names(room) -> None:
    room.hermes.configure({"policy.mode": "off", "policy.deny": ["run(rm *)"], "policy.allow": ["run(ls *)"]})
    named = {"one": ([part("rm x")], []), "other": ([], [part("rm y")]), "none": ([], [])}
    words = (
        lambda call, _, n=n: Verdict(outcome="allow", commands=named[call.arguments["command"]][n]) for n in (0, 1)
    )
    guards(room, *words)
    room.offline()
    told = await room.turn(*(Call("run", {"command": command}) for command in named))
    assert ["policy.deny" in one for one in told] == [True, True, False]


def parts(*made: CommandPart) -> Callable[[ToolCall, Protected], Verdict]:
    return says(commands=made, lasting=True)


ALLOWED = [
    # parts, whether run(ls *) allows them
    ([part("ls -l")], True),
    ([part("ls -l"), part("ls -a")], True),
    ([part("ls -l"), part("rm x")], False),
    ([part("ls -l", literal=True)], False),
    ([part("ls -l"), part("ls -a", literal=True)], False),
]


@pytest.mark.parametrize(("made", "allowed"), ALLOWED, ids=range(len(ALLOWED)))
async def test_a_rule_with_a_star_allows_what_it_fits_in_every_part(room, made: Iterable[CommandPart], allowed) -> None:
    room.hermes.configure({"policy.allow": ["run(ls *)"]})
    guards(room, parts(*made))
    room.offline()
    [told] = await room.turn(Call("run", {"command": "ls -l; and more"}))
    assert (told == "ran") is allowed


GRANTS = [
    # what the first call consists of, what a later one does, whether the yes covers it
    ([part("a", words=("a",), folder="/x")], [part("a", words=("a",), folder="/x")], True),
    ([part("a", words=("a",), folder="/x")], [part("a", words=("a",), folder="/y")], False),
    ([part("a", words=("a",), folder="/x")], [part("b", words=("b",), folder="/x")], False),
    ([part("a", words=("a",), folder="/x")], [part("a")], False),
    ([part("a")], [part("a", words=("a",), folder="/x")], False),
    (
        [part("a b", words=("a", "b"), folder="/s/x", family=("a",), covers="a …")],
        [part("a c", words=("a", "c"), folder="/s/x/y", family=("a",), places=("/s/x/c",))],
        True,
    ),
    (
        [part("a b", words=("a", "b"), folder="/s/x", family=("a",), covers="a …")],
        [part("a c", words=("a", "c"), folder="/s/x", family=("a",), places=("/s/c",))],
        False,
    ),
    (
        [part("a b", words=("a", "b"), folder="/s/x", family=("a",), covers="a …")],
        [part("a c", words=("a", "c"), folder="/s/x", family=("a",), options=("-f",))],
        False,
    ),
    (
        [part("a b", words=("a", "b"), folder="/s/x", family=("a",), covers="a …")],
        [part("c b", words=("c", "b"), folder="/s/x", family=("c",))],
        False,
    ),
]


@pytest.mark.parametrize(("first", "later", "covered"), GRANTS, ids=range(len(GRANTS)))
async def test_a_yes_reaches_as_far_as_the_guard_says(room, first, later, covered) -> None:
    made = {"first": first, "later": later}
    guards(room, lambda call, _: Verdict(outcome="allow", commands=made[call.arguments["command"]], lasting=True))
    room.offline()
    room.answer = ALWAYS
    assert await room.turn(Call("run", {"command": "first"})) == ["ran"]
    room.answer = Verdict(outcome="deny")
    [told] = await room.turn(Call("run", {"command": "later"}))
    assert (told == "ran") is covered


async def test_a_yes_to_a_whole_line_is_none_to_a_family_of_its_name(room) -> None:
    here = str(room.hermes.workspace.folder)
    family = part("make it", words=("make", "it"), folder=here, family=("make",), covers="make …")
    made = {"make": [part("make")], "make it": [family]}
    guards(room, lambda call, _: Verdict(outcome="allow", commands=made[call.arguments["command"]], lasting=True))
    room.offline()
    room.answer = ALWAYS
    assert await room.turn(MAKE) == ["ran"]
    room.answer = Verdict(outcome="deny")
    whole, other = await room.turn(MAKE, Call("run", {"command": "make it"}))
    assert (whole, other == "ran") == ("ran", False)


@pytest.mark.parametrize(("one", "other"), [(True, True), (True, False), (False, True), (False, False)])
async def test_a_yes_may_last_where_every_guard_says_so(room, one, other) -> None:
    guards(room, says(lasting=one), says(lasting=other))
    await room.turn(MAKE)
    assert ("always" in room.asked[0].choices) is (one and other)


# --- what it is told -----------------------------------------------------------------------------------------------


async def test_a_guard_is_told_what_is_closed_and_what_is_for_a_person(room) -> None:
    told: list[Protected] = []

    def hear(_: ToolCall, protected: Protected) -> Verdict:
        told.append(protected)
        return Verdict(outcome="allow", commands=())

    guards(room, hear)
    room.hermes.configure({"roles.trusted_with_shell": ["*"]})
    room.hermes.tmp_plugin("hermes_tool_roles")
    await room.turn(MAKE, LOOK)
    await room.turn(MAKE, session="guest", owner=Principal(person="anna"))
    mine, hers = told
    home = room.hermes.runtime.home
    assert {home.config_file, home.env_file, home.cache, home.root / "people"} <= set(mine.closed)
    assert home.root / "people" not in hers.closed
    assert f"{home.root}/skills" in mine.readable
    assert mine.program == "hermes"
    assert [mine.reserved(words.split()) for words in ("config set x", "config get x", "--yolo", "chat")] == [
        True, False, True, False,
    ]  # fmt: skip
    assert re.search("outputs/s$", mine.readable[-1])


async def test_it_is_asked_of_calls_that_run_something_only(room) -> None:
    asked: list[str] = []

    def hear(call: ToolCall, _: Protected) -> Verdict:
        asked.append(call.name)
        return Verdict(outcome="allow", commands=())

    guards(room, hear)
    await room.turn(MAKE, LOOK, Call("send", {"text": "x"}), Call("play", {"path": "x"}))
    assert asked == ["run", "play"]
