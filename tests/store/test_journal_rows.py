"""Each step of a turn is written into the rows of its own session, turn and call, and into nothing else."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gateway_house import rows_of

from hermes_core.errors import StoreError, UserError
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.leases import Turn
from hermes_core.store.store import Store, open_store
from hermes_core.store.validity import INTERRUPTED
from hermes_core.types import Approval, Chat, Message, Principal, Session, Text, ToolCall, ToolResult, Usage
from hermes_platform_gateway.rows.values import Outgoing

ME, YOU = Principal(), Principal(person="you")
MINE, THEIRS = "20260101_000000_aaaaaa", "20260101_000000_bbbbbb"
NOW = 5000.0
# A figure of its own for each, so that none can stand for another.
USED = Usage(input=1, output=2, cache_read=4, cache_write=8, reasoning=16, calls=32, cost=64.0)
FIGURES = "input, output, cache_read, cache_write, reasoning, calls, cost"
CALLS = [ToolCall(id="c1", name="ls", arguments={"a": 1}), ToolCall(id="c2", name="ls", arguments={"a": 2})]
TABLES = ("sessions", "turns", "tool_calls", "messages", "contexts", "prompts", "leases", "model_calls")
Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [NOW]
    for room in ("history", "journal"):
        monkeypatch.setattr(f"hermes_core.store.{room}.time", SimpleNamespace(time=lambda: now[0]))
    return now


def rows(sql: Sql, session_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored of a session."""
    column = {"sessions": "id"}
    return {t: sql(f"SELECT * FROM {t} WHERE {column.get(t, 'session_id')} = '{session_id}'") for t in TABLES}


def reply(*calls: ToolCall) -> Message:
    return Message(role="assistant", parts=(Text(text="on it"), *calls))


def result(call: ToolCall) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, parts=(Text(text=f"of {call.id}"),))


async def begun(store: Store, session_id: str, turn_id: str) -> Turn:
    message = Message(role="user", parts=(Text(text="hello"),))
    return await store.journal.open_turn(session_id, message, turn_id=turn_id, holder="h", provider="p", model="m")


async def working(store: Store, session_id: str, owner: Principal, turn_id: str) -> Turn:
    """A session in the middle of a turn: one call has begun, one waits."""
    await store.sessions.create(Session(id=session_id, origin="cli", owner=owner))
    await store.sessions.save_prompt(session_id, "prompt", "[]")
    turn = await begun(store, session_id, turn_id)
    await store.journal.add_reply(turn, reply(*CALLS), USED, "tools", calls=[("p", "m", USED, 1.5)])
    await store.journal.start_call(turn, "c1")
    return turn


@pytest.fixture
async def both(store: Store) -> tuple[Turn, Turn]:
    return await working(store, MINE, ME, "mine"), await working(store, THEIRS, YOU, "theirs")


STEPS: dict[str, Callable[[Store, Turn], Awaitable[object]]] = {
    "beat": lambda store, turn: store.journal.beat(turn),
    "reply": lambda store, turn: store.journal.add_reply(turn, reply(), USED, "stop", calls=[("p", "m", USED, 1.0)]),
    "start": lambda store, turn: store.journal.start_call(turn, "c2"),
    "finish": lambda store, turn: store.journal.finish_call(
        turn, CALLS[0], result(CALLS[0]), outcome="ok", seconds=1.0, used=USED
    ),
    "spend": lambda store, turn: store.journal.spend(turn, USED, calls=[("p", "m", USED, 1.0)], task="title"),
    "compact": lambda store, turn: store.history.compact(
        turn, [Message(role="user", parts=(Text(text="short"),))], "c"
    ),
    "close": lambda store, turn: store.journal.close_turn(turn, state="failed", error="why"),
    "prompt": lambda store, turn: store.sessions.save_prompt(turn.session_id, "other", "[1]"),
    "message": lambda store, turn: store.history.add(turn.session_id, reply()),
    "rename": lambda store, turn: store.sessions.rename(turn.session_id, "new", ME),
    "update": lambda store, turn: store.sessions.update(turn.session_id, cwd="/x", provider="q", model="n"),
}


@pytest.mark.parametrize("name", STEPS)
async def test_a_step_in_one_session_changes_nothing_of_another(
    store: Store, sql: Sql, both: tuple[Turn, Turn], name: str
) -> None:
    before = rows(sql, THEIRS)
    await STEPS[name](store, both[0])
    assert rows(sql, THEIRS) == before


async def test_mending_and_taking_over_one_session_changes_nothing_of_another(
    store: Store, sql: Sql, both: tuple[Turn, Turn]
) -> None:
    before = rows(sql, THEIRS)
    await store.journal.leave("nobody")
    sql(f"UPDATE leases SET beat=-1000 WHERE session_id = '{MINE}'")
    assert await store.journal.resume_turn(MINE, holder="next")
    sql(f"UPDATE leases SET beat=-1000 WHERE session_id = '{MINE}'")
    await begun(store, MINE, "after")
    assert rows(sql, THEIRS) == before


async def test_what_was_used_is_added_up_figure_by_figure(store: Store, sql: Sql, both: tuple[Turn, Turn]) -> None:
    once = (1, 2, 4, 8, 16, 32, 64.0)
    for table, name, column in (("sessions", MINE, "id"), ("turns", "mine", "id")):
        assert sql(f"SELECT {FIGURES} FROM {table} WHERE {column} = '{name}'") == [once]
    await store.journal.spend(both[0], USED, calls=[("p", "m", USED, 2.5), ("q", "n", Usage(), 0.0)], task="title")
    await store.journal.finish_call(both[0], CALLS[0], result(CALLS[0]), outcome="ok", seconds=1.0, used=USED)
    for table, name in (("sessions", MINE), ("turns", "mine")):
        assert sql(f"SELECT {FIGURES} FROM {table} WHERE id = '{name}'") == [tuple(3 * value for value in once)]
    booked = sql(
        f"SELECT turn_id, task, provider, model, seconds, input FROM model_calls WHERE session_id = '{MINE}' "
        "ORDER BY provider, seconds"
    )
    assert booked == [("mine", "", "p", "m", 1.5, 1), ("mine", "title", "p", "m", 2.5, 1),
                      ("mine", "title", "q", "n", 0.0, 0)]  # fmt: skip


async def test_a_call_without_children_books_nothing(store: Store, sql: Sql, both: tuple[Turn, Turn]) -> None:
    before = sql(f"SELECT {FIGURES} FROM turns")
    await store.journal.finish_call(both[0], CALLS[0], result(CALLS[0]), outcome="ok", seconds=1.0)
    assert sql(f"SELECT {FIGURES} FROM turns") == before


async def test_each_message_is_counted_in_its_session(
    store: Store, sql: Sql, both: tuple[Turn, Turn], clock: list[float]
) -> None:
    clock[0] = 6000.0
    assert await store.journal.add_reply(both[0], reply(), Usage(), "stop") + 1 == await store.history.add(
        THEIRS, reply()
    )
    row = await store.history.add(MINE, reply())
    look = f"SELECT messages, tool_calls, last, updated FROM sessions WHERE id = '{MINE}'"
    assert sql(look) == [(4, 2, row, 6000.0)]
    assert sql(f"SELECT turn_id, role, created FROM messages WHERE id = {row}") == [("", "assistant", 6000.0)]
    assert sql("SELECT count(*) FROM messages WHERE turn_id = 'mine'") == [(3,)]


async def test_a_call_is_written_as_it_was_asked_begun_and_ended(
    store: Store, sql: Sql, both: tuple[Turn, Turn], clock: list[float]
) -> None:
    look = f"SELECT call_id, outcome, started, seconds, result_id IS NULL FROM tool_calls WHERE session_id = '{MINE}'"
    assert sql(f"{look} ORDER BY id") == [("c1", "started", NOW, 0.0, 1), ("c2", "pending", 0.0, 0.0, 1)]
    clock[0] = 6000.0
    await store.journal.start_call(both[0], "c2")
    await store.journal.finish_call(both[0], CALLS[1], result(CALLS[1]), outcome="failed", seconds=2.5)
    assert sql(f"{look} ORDER BY id") == [("c1", "started", NOW, 0.0, 1), ("c2", "failed", 6000.0, 2.5, 0)]
    [(linked,)] = sql("SELECT body FROM messages JOIN tool_calls ON result_id = messages.id")
    assert "of c2" in linked
    assert await store.history.tools_that_ran(MINE) == set()
    await store.journal.finish_call(both[0], CALLS[0], result(CALLS[0]), outcome="ok", seconds=0.0)
    assert await store.history.tools_that_ran(MINE) == {"ls"}
    assert await store.history.tools_that_ran(THEIRS) == set()


async def test_a_call_is_of_its_turn_and_the_last_of_its_name(store: Store, both: tuple[Turn, Turn]) -> None:
    mine, theirs = both
    assert await store.journal.call_row(mine, "c1") != await store.journal.call_row(theirs, "c1")
    with pytest.raises(StoreError, match="has no tool call 'c9'"):
        await store.journal.call_row(mine, "c9")
    before = await store.journal.call_row(mine, "c1")
    await store.journal.finish_call(mine, CALLS[0], result(CALLS[0]), outcome="ok", seconds=0.0)
    await store.journal.add_reply(mine, reply(CALLS[0]), Usage(), "tools")
    assert await store.journal.call_row(mine, "c1") > before


async def test_a_call_is_begun_again_only_where_that_is_said(store: Store, both: tuple[Turn, Turn]) -> None:
    with pytest.raises(StoreError, match="started already"):
        await store.journal.start_call(both[0], "c1")
    assert await store.journal.start_call(both[0], "c1", again=True) == 0  # itself is not counted
    assert await store.journal.start_call(both[0], "c2", again=True) == 0
    await store.journal.finish_call(both[0], CALLS[0], result(CALLS[0]), outcome="ok", seconds=0.0)
    for again in (False, True):
        with pytest.raises(StoreError, match="ok already"):
            await store.journal.start_call(both[0], "c1", again=again)


async def test_the_same_call_is_counted_when_it_was_begun_before_in_the_session(
    store: Store, both: tuple[Turn, Turn]
) -> None:
    turn, number = both[0], 0

    async def asked(name: str, begin: bool = True, **arguments: Any) -> int:
        nonlocal number
        number += 1
        call = ToolCall(id=f"n{number}", name=name, arguments=arguments)
        await store.journal.add_reply(turn, reply(call), Usage(), "tools")
        return await store.journal.start_call(turn, call.id) if begin else -1

    assert await asked("rm", x=1, y=2) == 0
    assert await asked("rm", y=2, x=1) == 1
    assert await asked("rm", x=2) == 0
    assert await asked("ls", x=1, y=2) == 0
    await asked("cat", begin=False, x=1)
    assert await asked("cat", x=1) == 0  # the one before was not begun
    assert await asked("cat", x=1) == 1
    assert await asked("ls", a=1) == 1  # c1, not the one in the other session


async def test_of_calls_with_one_id_the_first_counts(store: Store, sql: Sql) -> None:
    await store.sessions.create(Session(id=MINE, origin="cli", owner=ME))
    turn = await begun(store, MINE, "t")
    one, two = (ToolCall(id="same", name=name, arguments={}) for name in ("first", "second"))
    await store.journal.add_reply(turn, reply(one, two, CALLS[1]), Usage(), "tools")
    assert sql("SELECT call_id, name FROM tool_calls ORDER BY id") == [("same", "first"), ("c2", "ls")]
    assert sql("SELECT tool_calls FROM sessions") == [(3,)]


async def test_a_turn_ends_as_it_is_told_at_its_time(
    store: Store, sql: Sql, both: tuple[Turn, Turn], clock: list[float]
) -> None:
    assert sql("SELECT id, state, holder, started FROM turns ORDER BY id") == [
        ("mine", "open", "h", NOW), ("theirs", "open", "h", NOW)]  # fmt: skip
    clock[0] = 6000.0
    await store.journal.close_turn(both[0], state="failed", error="why")
    assert sql("SELECT state, error, ended FROM turns WHERE id = 'mine'") == [("failed", "why", 6000.0)]
    ended = sql(f"SELECT call_id, outcome, seconds FROM tool_calls WHERE session_id = '{MINE}' ORDER BY id")
    assert ended == [("c1", "unknown", 0.0), ("c2", "refused", 0.0)]
    assert sql(f"SELECT turn_id FROM messages WHERE session_id = '{MINE}'") == [("mine",)] * 4


async def test_a_turn_that_was_cut_off_is_told_as_that(store: Store, sql: Sql, clock: list[float]) -> None:
    turn = await working(store, MINE, ME, "done")
    await store.journal.close_turn(turn, state="done")
    await begun(store, MINE, "cut")
    sql("UPDATE leases SET beat=-1000")
    clock[0] = 6000.0
    await begun(store, MINE, "next")
    found = sql("SELECT id, state, ended FROM turns ORDER BY seq")
    assert found == [("done", "done", NOW), ("cut", "interrupted", 6000.0), ("next", "open", 0.0)]


async def test_a_turn_is_taken_over_with_all_that_is_known_of_it(store: Store, sql: Sql) -> None:
    await store.sessions.create(Session(id=MINE, origin="cli", owner=ME))
    assert await store.journal.resume_turn(MINE, holder="nobody") is None
    turn = await working(store, THEIRS, YOU, "theirs")
    sql("INSERT INTO inbox (owner, platform, account, event_id, turn_id, received, trace) VALUES "
        "(1, 'p', 'a', '2', 'other', 0, 'not this'), (1, 'p', 'a', '1', 'theirs', 0, 'abc'), "
        "(1, 'p', 'a', '3', 'theirs', 0, 'later')")  # fmt: skip
    assert await store.journal.resume_turn(THEIRS, holder="early") is None  # its holder lives
    for number, holder in enumerate(("second", "third")):
        sql("UPDATE leases SET beat=-1000")
        found = await store.journal.resume_turn(THEIRS, holder=holder)
        assert found
        assert (found.turn.id, found.turn.session_id, found.turn.holder) == ("theirs", THEIRS, holder)
        assert found.turn.fence == turn.fence + 1 + number
        assert (found.calls, found.usage) == ({"c1": "started", "c2": "pending"}, USED)
        assert (found.provider, found.model, found.resumes, found.trace) == ("p", "m", number, "abc")
        assert [message.role for message in found.history][:2] == ["user", "assistant"]


async def test_a_prompt_is_of_its_session(store: Store) -> None:
    for name, owner in ((MINE, ME), (THEIRS, YOU)):
        await store.sessions.create(Session(id=name, origin="cli", owner=owner))
    await store.sessions.save_prompt(MINE, "mine", "[1]")
    assert await store.sessions.load_prompt(THEIRS) is None
    await store.sessions.save_prompt(THEIRS, "theirs", "[2]")
    assert await store.sessions.load_prompt(MINE) == ("mine", "[1]")


async def test_a_history_goes_on_behind_what_it_was_compacted_to(store: Store, both: tuple[Turn, Turn]) -> None:
    def said(history: list[Message]) -> list[str]:
        return [part.text for message in history for part in message.parts if isinstance(part, Text)]

    await store.journal.close_turn(both[0], state="done")
    turn = await begun(store, MINE, "next")
    await store.history.compact(turn, [Message(role="user", parts=(Text(text="short"),))], "c")
    await store.journal.add_reply(turn, reply(), Usage(), "stop")
    assert said(await store.history.load(MINE)) == ["short", "on it"]
    assert said(await store.history.load(MINE, whole=True))[:2] == ["hello", "on it"]
    assert "short" not in said(await store.history.load(THEIRS))


async def test_what_nobody_answered_is_withdrawn_with_its_turn(store: Store, sql: Sql, both: tuple[Turn, Turn]) -> None:
    for number, (turn, owner) in enumerate(zip(both, (ME, YOU), strict=True)):
        question = Approval(id=f"a{number}", session_id=turn.session_id, turn_id=turn.id, kind="approval", subject="rm")
        await store.approvals.ask(Session(id=turn.session_id, origin="cli", owner=owner), question)
    await store.journal.close_turn(both[0], state="done")
    assert sql("SELECT id, state FROM approvals ORDER BY id") == [("a0", "withdrawn"), ("a1", "open")]
    sql("UPDATE leases SET beat=-1000")
    await begun(store, THEIRS, "next")
    assert sql("SELECT id, state FROM approvals ORDER BY id") == [("a0", "withdrawn"), ("a1", "withdrawn")]


async def test_what_was_sent_during_a_turn_that_was_cut_off_is_told_before_the_next(store: Store, sql: Sql) -> None:
    await store.sessions.create(Session(id=MINE, origin="cli", owner=ME))
    await begun(store, MINE, "cut")
    sent = Message(role="user", parts=(Text(text="sent"),))
    outgoing = Outgoing(key="k", owner=ME, platform="p", account="bot", chat=Chat("c"), message=sent)
    await store.notes.post(MINE, "k", sent, await rows_of(store).outbox.sending([outgoing]))
    sql("UPDATE leases SET beat=-1000")
    await begun(store, MINE, "next")
    said = [part.text for _, message in await store.history.messages(ME, MINE) for part in message.parts]
    assert said == ["hello", INTERRUPTED, "sent", "hello"]


async def test_only_open_turns_of_ones_own_that_somebody_died_over_are_interrupted(store: Store, sql: Sql) -> None:
    cases = {"second": {}, "first": {}, "done": {}, "left": {}, "lives": {}, "of another": {"owner": YOU}}
    cases["of a child"] = {"origin": "child"}
    for name, more in cases.items():
        await store.sessions.create(Session(id=name, **{"origin": "cli", "owner": ME, **more}))
    for name in sorted(cases):  # "first" before "second"
        turn = await begun(store, name, f"turn of {name}")
        if name == "done":
            await store.journal.close_turn(turn, state="done")
    sql("UPDATE leases SET beat=-1000 WHERE session_id != 'lives'")
    sql("UPDATE leases SET holder='h', beat=-1000 WHERE session_id = 'done'")
    sql("UPDATE leases SET holder='' WHERE session_id = 'left'")
    assert await store.journal.interrupted(ME) == ["first", "second"]
    assert await store.journal.interrupted(YOU) == ["of another"]


async def test_a_store_says_where_it_is_and_whether_it_answers(file_store: Store, tmp_path: Path) -> None:
    assert file_store.place == str(tmp_path / "state.db")
    file_store.database.transact(lambda tx: tx.connection.execute("ALTER TABLE owners RENAME TO gone"))
    with pytest.raises(StoreError):
        await file_store.answers()


def test_a_store_that_is_too_new_is_closed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = open_store(tmp_path / "state.db")
    made.database.transact(lambda tx: tx.connection.execute("UPDATE alembic_version SET version_num='of tomorrow'"))
    made.close()
    closed, close = [], FileDatabase.close
    monkeypatch.setattr(FileDatabase, "close", lambda self: (closed.append(self), close(self))[1])
    with pytest.raises((StoreError, UserError)):
        open_store(tmp_path / "state.db")
    assert len(closed) == 1


async def test_a_store_answers_until_it_is_closed_which_may_be_said_twice(store: Store) -> None:
    assert await store.answers() is None
    store.close()
    store.close()
    with pytest.raises(StoreError):
        await store.answers()
