"""Who holds a session: until when, with which token, and what a holder may let go of."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_atomic.processes import place
from hermes_core.store import leases
from hermes_core.store.leases import Busy, StaleLease, Turn
from hermes_core.store.store import Store
from hermes_core.types import Message, Principal, Session, Text

FIRST, OTHER = "20260101_000000_aaaaaa", "20260101_000000_bbbbbb"
Sql = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture(autouse=True)
async def sessions(store: Store) -> None:
    for name in (FIRST, OTHER):
        await store.sessions.create(Session(id=name, origin="cli", owner=Principal()))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of all leases, which a test moves."""
    now = [1000.0]
    monkeypatch.setattr(leases, "_now", lambda tx: now[0])
    return now


async def begun(store: Store, turn_id: str, session_id: str = FIRST, holder: str = "test") -> Turn:
    message = Message(role="user", parts=(Text(text="hello"),))
    return await store.journal.open_turn(session_id, message, turn_id=turn_id, holder=holder, provider="p", model="m")


def lease(sql: Sql, session_id: str = FIRST) -> tuple[object, ...]:
    [row] = sql(f"SELECT holder, place, fence, pid, beat FROM leases WHERE session_id = '{session_id}'")
    return row


async def test_a_holder_is_there_until_a_minute_of_silence_is_over(store: Store, clock: list[float]) -> None:
    await begun(store, "t1")
    for silent in (0.0, 60.0):
        clock[0] = 1000.0 + silent
        with pytest.raises(Busy) as caught:
            await begun(store, "t2")
        assert caught.value.text == f"Session {FIRST} is busy: test is working on it."
    clock[0] = 1060.5
    await begun(store, "t2")


async def test_each_beat_is_the_start_of_a_new_minute(store: Store, clock: list[float]) -> None:
    turn = await begun(store, "t1")
    clock[0] = 1050.0
    await store.journal.beat(turn)
    clock[0] = 1110.0
    with pytest.raises(Busy):
        await begun(store, "t2")
    assert await store.journal.resume_turn(FIRST, holder="other") is None


async def test_the_tokens_of_a_session_are_counted_from_one(store: Store, clock: list[float]) -> None:
    tokens = []
    for number in range(3):
        tokens.append((await begun(store, f"t{number}")).fence)
        clock[0] += 100.0
    assert tokens == [1, 2, 3]


async def test_who_takes_a_session_over_is_written_down_whole(store: Store, sql: Sql, clock: list[float]) -> None:
    await begun(store, "t1")
    sql(f"UPDATE leases SET holder='far', place='elsewhere', pid=1, beat=-1000 WHERE session_id = '{FIRST}'")
    turn = await begun(store, "t2", holder="near")
    assert lease(sql) == ("near", place(), turn.fence, os.getpid(), 1000.0)


async def test_a_turn_that_ended_holds_nothing(store: Store, sql: Sql) -> None:
    turn = await begun(store, "t1")
    await store.journal.close_turn(turn, state="done")
    assert lease(sql)[0] == ""
    with pytest.raises(StaleLease):
        await store.journal.beat(turn)
    with pytest.raises(StaleLease):
        await store.journal.close_turn(turn, state="done")


async def test_a_turn_that_ends_lets_go_of_its_own_session_only(store: Store, sql: Sql) -> None:
    first, other = await begun(store, "t1"), await begun(store, "t2", OTHER)
    assert first.fence == other.fence
    await store.journal.close_turn(first, state="done")
    assert (lease(sql)[0], lease(sql, OTHER)[0]) == ("", "test")
    await store.journal.beat(other)


async def test_who_leaves_leaves_all_its_turns_at_once_and_nobody_elses(store: Store, sql: Sql) -> None:
    mine, theirs = await begun(store, "t1"), await begun(store, "t2", OTHER, holder="other")
    before = lease(sql, OTHER)
    await store.journal.leave("test")
    assert lease(sql) == ("test", "", mine.fence + 1, 0, leases.GONE)
    assert lease(sql, OTHER) == before
    with pytest.raises(StaleLease):
        await store.journal.beat(mine)
    await store.journal.beat(theirs)
    resumed = await store.journal.resume_turn(FIRST, holder="next")
    assert resumed
    assert (resumed.turn.id, resumed.turn.fence) == ("t1", mine.fence + 2)


async def test_what_was_left_is_free_also_in_the_first_minute_of_a_machine(store: Store, clock: list[float]) -> None:
    clock[0] = 30.0
    await begun(store, "t1")
    await store.journal.leave("test")
    assert await store.journal.resume_turn(FIRST, holder="next")


def test_where_the_system_says_nothing_of_its_boot_a_place_is_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError("no /proc here")

    monkeypatch.setattr(Path, "read_text", refused)
    assert place.__wrapped__() == os.uname().nodename
