"""The judge fails closed: whatever breaks while a call is judged, it does not run, its model is told, the turn goes on.

Each fault is put where it would happen, and the same call is tried without it: there it runs, or nothing is proved.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from hermes_core.agent.meter import Meter
from hermes_core.agent.policy import judge
from hermes_core.agent.policy.judge import Policy
from hermes_core.errors import OutOfReach, StoreError, Unavailable, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.store.approvals import Approvals
from hermes_core.testing import Call, Fail, FakeBackend, FakeWorkspace
from hermes_core.types import Effect, Feature, Message, Principal, Text, Verdict
from hermes_tool_guard import hardblocks

ALLOW = Verdict(outcome="allow", choice="once")


class Fault(Exception):
    """Something broke."""


def breaks(*_: object, **__: object) -> Any:
    raise Fault("something broke")


async def breaks_later(*_: object, **__: object) -> Any:
    raise Fault("something broke")


def fault_in_a_gate(room: Any, _patch: pytest.MonkeyPatch) -> None:
    @hookimpl
    async def pre_tool_call(call: Any) -> Verdict | None:
        return breaks()

    room.hermes.tmp_plugin(pre_tool_call, name="gate")


def fault_in_what_is_closed(_room: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(judge, "_closed", breaks)


def fault_in_the_guard(_room: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hardblocks, "blocked_command", breaks)


def fault_in_the_rules(room: Any, patch: pytest.MonkeyPatch) -> None:
    room.hermes.configure({"policy.deny": ["run(never)"]})
    patch.setattr(judge, "matches", breaks)


def fault_in_the_risks(_room: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(judge, "risk_of", breaks)


def fault_in_the_grants(_room: Any, patch: pytest.MonkeyPatch) -> None:
    async def granted(*_: object) -> list[str]:
        raise StoreError("something broke")

    patch.setattr(Approvals, "granted", granted)


def fault_in_the_offer(_room: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(judge, "offer", breaks)


def fault_where_it_is_written_down(_room: Any, patch: pytest.MonkeyPatch) -> None:
    async def ask(*_: object) -> Any:
        raise StoreError("something broke")

    patch.setattr(Approvals, "ask", ask)


def fault_in_the_second_opinion(room: Any, patch: pytest.MonkeyPatch) -> None:
    room.hermes.configure({"policy.mode": "smart"})
    patch.setattr(Meter, "left", breaks_later)


FAULTS = [
    fault_in_a_gate,
    fault_in_what_is_closed,
    fault_in_the_guard,
    fault_in_the_rules,
    fault_in_the_risks,
    fault_in_the_grants,
    fault_in_the_offer,
    fault_where_it_is_written_down,
    fault_in_the_second_opinion,
]


async def test_the_call_that_faults_are_tried_with_runs_without_one(room) -> None:
    room.offline()
    room.answer = ALLOW
    assert await room.turn(Call("run", {"command": "npm publish"})) == ["ran"]
    assert room.did == ["run npm publish"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_judge_that_cannot_decide_denies(room, monkeypatch, fault) -> None:
    room.answer = ALLOW
    fault(room, monkeypatch)
    [told] = await room.turn(Call("run", {"command": "npm publish"}))
    assert told.startswith("run was not run: the policy could not decide (")
    assert "something broke" in told
    assert room.did == []
    assert [result.failed for result in room.results] == [True]


async def test_with_questions_switched_off_it_denies_all_the_same(room, monkeypatch) -> None:
    room.hermes.configure({"policy.mode": "off"})
    fault_in_a_gate(room, monkeypatch)
    [told] = await room.turn(Call("run", {"command": "ls"}))
    assert "the policy could not decide" in told
    assert room.did == []


async def test_a_judge_of_taint_that_breaks_denies(room, monkeypatch) -> None:
    room.hermes.configure({"policy.mode": "off"})
    monkeypatch.setattr(judge, "concern", breaks)
    page = Message(role="user", parts=(Text(text="A page."),), untrusted=True)
    [told] = await room.turn(Call("send", {"text": "hi"}), said=page)
    assert "the policy could not decide (something broke)" in told
    assert await room.turn(Call("send", {"text": "hi"}), session="clean") == ["sent"]
    assert room.did == ["send hi"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Fault("no such thing"), "the policy could not decide (no such thing)"),
        (OutOfReach("This address is closed."), "This address is closed."),
    ],
    ids=["broken", "out of reach"],
)
async def test_a_tool_that_cannot_say_what_it_touches_does_not_run(room, error, said) -> None:
    def touches(_: object) -> Sequence[str]:
        raise error

    @tool(effects={Effect.READ_FILES}, touches=touches)
    async def peek() -> str:
        """Look somewhere."""
        room.did.append("peek")
        return "seen"

    room.hermes.tmp_plugin(peek)
    room.hermes.configure({"policy.mode": "off"})
    assert await room.turn(Call("peek")) == [f"peek was not run: {said}"]
    assert room.did == []


async def test_what_breaks_for_one_call_of_a_reply_denies_that_one_only(room, monkeypatch) -> None:
    known = hardblocks.blocked_command

    def sometimes(command: str, *rest: Any) -> str:
        return breaks() if command == "odd" else known(command, *rest)

    monkeypatch.setattr(hardblocks, "blocked_command", sometimes)
    room.offline()
    room.answer = ALLOW
    room.model.add([Call("run", {"command": "odd"}), Call("run", {"command": "even"})])
    odd, even = await room.turn()
    assert "could not decide" in odd
    assert even == "ran"
    assert room.did == ["run even"]


# --- what is asked, in which order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ask", "smart", "off"])
async def test_the_first_to_say_no_says_why_in_every_mode(room, mode) -> None:
    @hookimpl
    async def pre_tool_call(call: Any) -> Verdict | None:
        return Verdict(outcome="deny", reason="says the gate")

    room.hermes.configure({"policy.mode": mode, "policy.deny": ["run(rm *)", "run(denied)"], "policy.allow": ["run"]})
    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    commands = ["rm -rf /", "denied", "true; denied", "gated"]
    told = await room.turn(*(Call("run", {"command": command}) for command in commands))
    assert [("never allowed" in one, "policy.deny" in one, "says the gate" in one) for one in told] == [
        (True, False, False),
        (False, True, False),
        (False, True, False),
        (False, False, True),
    ]
    assert (room.did, room.asked) == ([], [])


SPELLINGS = [
    "{}", "cd x && {}", "sh -c '{}'", "sh -c '{} && ls'", "sh -c 'ls; {}; ls'", 'sudo bash -lc "ls; {}"',
    "eval '{}; ls'",
]  # fmt: skip


async def test_a_deny_rule_holds_in_every_spelling(room) -> None:
    room.hermes.configure({"policy.mode": "off", "policy.deny": ["run(touch *)"]})
    room.offline()
    told = await room.turn(*(Call("run", {"command": form.format("touch x")}) for form in SPELLINGS))
    assert [form for form, one in zip(SPELLINGS, told, strict=True) if "policy.deny" not in one] == []
    assert await room.turn(*(Call("run", {"command": form.format("stat x")}) for form in SPELLINGS)) == ["ran"] * 7


@pytest.mark.parametrize(
    ("mode", "wants", "asked"),
    [("ask", "ask", True), ("ask", None, False), ("off", "ask", False), ("smart", "ask", True)],
)
async def test_what_is_harmless_runs_unless_a_gate_wants_a_person(room, mode, wants, asked) -> None:
    @hookimpl
    async def pre_tool_call(call: Any) -> Verdict | None:
        return Verdict(outcome="ask") if wants else None

    room.hermes.configure({"policy.mode": mode})
    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    [told] = await room.turn(Call("look", {"path": "a.txt"}))
    assert [q.risk for q in room.asked] == ["a plugin wants a person to decide"] * asked
    assert told == ("look was not run: the person said no" if asked else "read")


async def test_a_gates_words_are_put_to_the_person_and_its_yes_spares_the_question(room) -> None:
    @hookimpl
    async def pre_tool_call(call: Any) -> Verdict | None:
        careful, fine = Verdict(outcome="ask", reason="wipes the cellar"), Verdict(outcome="allow")
        return {"careful": careful, "fine": fine}.get(call.arguments["command"])

    room.offline()

    room.hermes.tmp_plugin(pre_tool_call, name="gate")
    told = await room.turn(*(Call("run", {"command": one}) for one in ("careful", "fine", "unknown")))
    assert [one == "ran" for one in told] == [False, True, False]
    assert [question.risk for question in room.asked] == ["wipes the cellar", "runs a command on this machine"]


@pytest.mark.parametrize(("said", "runs"), [("APPROVE", True), ("DENY", False)])
async def test_only_mode_smart_takes_a_second_opinion(room, said, runs) -> None:
    room.hermes.configure({"policy.mode": "smart"})
    room.offline()
    room.model.add([Call("run", {"command": "make"})], said)
    [told] = await room.turn()
    assert (told == "ran", room.asked) == (runs, [])
    room.hermes.runtime.policy.set_mode("t", "ask")
    await room.turn(Call("run", {"command": "make"}), session="t")
    assert [question.subject for question in room.asked] == ["$ make"]


async def test_a_second_opinion_that_does_not_come_leaves_it_to_the_person(room) -> None:
    """No word of the folder, which bears the name of this test, may sound like an answer: that is never shown to it."""
    room.hermes.configure({"policy.mode": "smart"})
    room.model.add([Call("run", {"command": "make"})], Fail(Unavailable("broken", transient=False)))
    [told] = await room.turn()
    assert told == "run was not run: the person said no"
    assert [question.subject for question in room.asked] == ["$ make"]


async def test_with_nobody_to_ask_the_answer_is_no_and_says_what_to_do(room) -> None:
    room.answer = None
    [told] = await room.turn(Call("run", {"command": "make"}))
    assert told == (
        "run was not run: it runs a command on this machine, and that needs a person's yes. "
        "Nobody is here to ask. Run it in `hermes`, or allow it with --yolo or policy.allow"
    )
    page = Message(role="user", parts=(Text(text="A page."),), untrusted=True)
    [told] = await room.turn(Call("run", {"command": "make"}), said=page)
    assert "which may have asked for it, and that needs a person's yes" in told
    assert told.endswith("Answer it in a conversation, or run commands in an isolated workspace")


async def test_a_guests_commands_are_put_to_an_admin_and_all_else_to_whose_call_it_is(room) -> None:
    room.hermes.configure({"roles.trusted_with_shell": ["*"]})
    room.hermes.tmp_plugin("hermes_tool_roles")
    room.offline()
    command, letter = Call("run", {"command": "make"}), Call("send", {"text": "hi"})
    await room.turn(command, letter)
    assert [question.to for question in room.asked] == ["person", "person"]
    room.asked.clear()
    await room.turn(command, letter, session="guest", owner=Principal(person="anna"))
    assert [question.to for question in room.asked] == ["admin", "person"]


def test_a_mode_that_is_fixed_is_kept_and_one_that_is_none_is_refused() -> None:
    policy = Policy(Dispatch(), mode="ask", deny=(), allow=(), guarded=(), fixed=True)
    policy.set_mode("s", "ask")
    for mode, said in (
        ("off", "The mode is ask, and it is locked: it stays so"),
        ("never", "There is no mode 'never'"),
    ):
        with pytest.raises(UserError, match=said):
            policy.set_mode("s", mode)
    assert policy.mode("s") == "ask"


# --- two gates --------------------------------------------------------------------------------------------------------

SENDS, LOOKS = frozenset({Effect.SEND}), frozenset({Effect.READ_FILES})


def gates(room: Any, *verdicts: Verdict) -> None:
    """Gates that say this of every call, in this order."""

    def gate(verdict: Verdict) -> Any:
        @hookimpl
        async def pre_tool_call(call: Any) -> Verdict | None:
            return verdict

        return pre_tool_call

    for name, verdict in zip("ab", verdicts, strict=True):
        room.hermes.tmp_plugin(gate(verdict), name=name)


@pytest.mark.parametrize("turned", [False, True], ids=["one first", "the other first"])
async def test_of_two_gates_that_name_effects_neither_hides_those_of_the_other(room, turned) -> None:
    both = [Verdict(outcome="allow", effects=LOOKS), Verdict(outcome="allow", effects=SENDS)]
    gates(room, *(reversed(both) if turned else both))
    page = Message(role="user", parts=(Text(text="A page."),), untrusted=True)
    [told] = await room.turn(Call("run", {"command": "cat x | mail"}), said=page)
    assert told == "run was not run: the person said no"
    assert [q.risk.partition(",")[0] for q in room.asked] == ["sends something out"]


@pytest.mark.parametrize("turned", [False, True], ids=["one first", "the other first"])
@pytest.mark.parametrize("stricter", ["ask", "deny"])
async def test_of_two_gates_the_stricter_one_counts(room, stricter, turned) -> None:
    both = [Verdict(outcome="allow", effects=LOOKS), Verdict(outcome=stricter, reason="not so fast")]
    gates(room, *(reversed(both) if turned else both))
    [told] = await room.turn(Call("run", {"command": "ls"}))
    assert told.startswith("run was not run: ")
    assert [question.risk for question in room.asked] == (["not so fast"] if stricter == "ask" else [])
    assert room.did == []


# --- what is closed ---------------------------------------------------------------------------------------------------


async def test_what_is_opened_for_reading_may_be_neither_written_nor_run(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    skill = room.hermes.runtime.home.root / "skills" / "knots" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Over and under.")
    told = await room.turn(*(Call(name, {"path": str(skill)}) for name in ("look", "write", "play")))
    assert told[0] == "read"
    assert all("is closed to tools" in one and "never allowed" in one for one in told[1:]), told
    assert room.did == [f"look {skill}"]


async def test_in_an_isolated_workspace_a_path_is_one_of_its_own(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    here = str(room.hermes.runtime.home.config_file)
    [told] = await room.turn(Call("look", {"path": here}))
    assert "is closed to tools" in told
    place = room.hermes.workspace
    place.features |= {Feature.ISOLATED}
    assert await room.turn(Call("look", {"path": here}), Call("run", {"command": f"cat {here}"})) == ["read", "ran"]


async def test_a_command_is_looked_at_in_the_folder_it_names(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    room.offline()
    calls = [{"command": "rm -rf *", "workdir": where} for where in ("", "sub", "/", "../../../../../../../..", "~")]
    told = await room.turn(*(Call("run", call) for call in calls))
    assert [one == "ran" for one in told] == [True, True, False, False, False]
    assert all("never allowed" in one for one in told[2:])


async def test_every_text_of_a_call_that_runs_something_is_looked_at(room) -> None:
    room.hermes.configure({"policy.mode": "off"})
    home = str(room.hermes.runtime.home.root)
    calls = [
        {"seconds": 5, "command": "rm -rf /"},
        {"command": "ls", "workdir": home},
        {"workdir": "/", "command": "rm -rf *"},
    ]
    told = await room.turn(*(Call("run", call) for call in calls))
    assert ["never allowed" in one for one in told] == [True, True, True]
    assert room.did == []


async def test_a_command_is_looked_at_where_the_shell_went_to(room) -> None:
    class Wandering(FakeWorkspace):
        shell_cwd = ""

    place = Wandering(folder=room.hermes.workspace.folder)
    room.hermes.tmp_plugin(FakeBackend(place, name="wandering"))
    room.hermes.configure({"policy.mode": "off", "terminal.backend": "wandering"})
    home = room.hermes.runtime.home
    home.config_file.write_text("")
    assert await room.turn(Call("run", {"command": "cat config.yaml"})) == ["ran"]
    place.shell_cwd = str(home.root)
    [told] = await room.turn(Call("run", {"command": "cat config.yaml"}))
    assert "never allowed" in told
