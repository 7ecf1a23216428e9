"""Who works on a session: one holder, as long as it gives a sign of life, and nobody who was replaced."""

import pytest

from hermes_atomic import processes
from hermes_core.store import leases
from hermes_core.store.leases import LIFE, Busy, Resumed, StaleLease, Turn
from hermes_core.store.store import Store
from hermes_core.types import Message, Session, Text, Usage

ID, OTHER = "20260101_000000_aaaaaa", "20260101_000000_bbbbbb"
NOW = 1_000_000.0
SAID = Message(role="user", parts=(Text(text="hello"),))
REPLY = Message(role="assistant", parts=(Text(text="hi"),))


class Clock:
    """The clock that leases are read from; ``now`` may be set. ``dead`` are processes that are gone."""

    def __init__(self) -> None:
        self.now, self.dead = NOW, set[int]()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(leases, "_now", lambda tx: made.now)
    monkeypatch.setattr(processes, "is_running", lambda pid: pid not in made.dead)
    return made


@pytest.fixture(autouse=True)
async def sessions(store: Store) -> None:
    for name in (ID, OTHER):
        await store.sessions.create(Session(id=name, origin="cli"))


async def begun(store: Store, turn_id: str, holder: str = "one", session: str = ID, left: int = 0) -> Turn:
    given = {"turn_id": turn_id, "holder": holder, "provider": "p", "model": "m"}
    return await store.journal.open_turn(session, SAID, left=left, **given)


async def replies(store: Store, turn: Turn) -> None:
    await store.journal.add_reply(turn, REPLY, Usage(), "stop")


SILENCE = [(0.0, True), (LIFE - 1, True), (LIFE, True), (LIFE + 0.5, False), (LIFE * 100, False)]


@pytest.mark.parametrize(("silent", "busy"), SILENCE)
async def test_a_holder_is_there_until_it_was_silent_for_too_long(store, clock, silent, busy) -> None:
    turn = await begun(store, "t1")
    clock.now += silent
    if busy:
        with pytest.raises(Busy, match=f"Session {ID} is busy: one is working on it") as caught:
            await begun(store, "t2", "two")
        assert caught.value.holder == "one"
        await replies(store, turn)
    else:
        taken = await begun(store, "t2", "two")
        assert taken.fence == turn.fence + 1
        with pytest.raises(StaleLease):
            await replies(store, turn)


async def test_every_write_is_a_sign_of_life(store, clock) -> None:
    turn = await begun(store, "t1")
    for sign in (store.journal.beat(turn), replies(store, turn), store.journal.spend(turn, Usage())):
        clock.now += LIFE
        await sign
    clock.now += LIFE
    with pytest.raises(Busy):
        await begun(store, "t2")


async def test_a_beat_from_the_future_is_from_before_a_reboot_but_not_on_a_server(store, clock, url: str) -> None:
    turn = await begun(store, "t1")
    clock.now -= 1
    if url:  # its clock may have been set back a little
        with pytest.raises(Busy):
            await begun(store, "t2")
        clock.now -= LIFE
    await begun(store, "t2")
    with pytest.raises(StaleLease):
        await replies(store, turn)


async def test_a_process_that_is_gone_holds_nothing(store, clock, sql) -> None:
    await begun(store, "t1")
    sql(f"UPDATE leases SET pid = 4711 WHERE session_id = '{ID}'")
    with pytest.raises(Busy):
        await begun(store, "t2")
    clock.dead.add(4711)
    await begun(store, "t2")


async def test_a_process_of_another_machine_is_known_by_its_beat_alone(store, clock, sql) -> None:
    await begun(store, "t1")
    sql(f"UPDATE leases SET pid = 4711, place = 'elsewhere' WHERE session_id = '{ID}'")
    clock.dead.add(4711)
    with pytest.raises(Busy):
        await begun(store, "t2")
    clock.now += LIFE + 1
    await begun(store, "t2")


async def test_who_lets_go_leaves_the_session_free_and_writes_nothing_more(store, clock) -> None:
    first = await begun(store, "t1")
    await store.journal.close_turn(first, state="done")
    with pytest.raises(StaleLease):
        await replies(store, first)
    with pytest.raises(StaleLease):
        await store.journal.beat(first)
    second = await begun(store, "t2", "two")
    assert second.fence > first.fence


async def test_who_ended_a_turn_that_it_could_not_close_takes_the_session_up_again(store, clock) -> None:
    first = await begun(store, "t1")
    with pytest.raises(Busy):
        await begun(store, "t2", left=first.fence + 1)
    again = await begun(store, "t2", left=first.fence)
    with pytest.raises(StaleLease):
        await replies(store, first)
    await replies(store, again)


async def test_the_token_of_one_session_is_none_for_another(store, clock) -> None:
    one = await begun(store, "t1")
    other = await begun(store, "t2", "two", OTHER)
    assert (one.fence, other.fence) == (1, 1)
    clock.now += LIFE + 1
    await begun(store, "t3")
    with pytest.raises(StaleLease):
        await replies(store, one)
    await replies(store, other)


async def test_what_a_holder_leaves_anybody_takes_up_at_once_and_nothing_else(store, clock) -> None:
    mine, others = await begun(store, "t1", "one"), await begun(store, "t2", "two", OTHER)
    await store.journal.leave("one")
    with pytest.raises(StaleLease):
        await replies(store, mine)
    await replies(store, others)
    assert await store.journal.resume_turn(OTHER, holder="three") is None
    taken = await store.journal.resume_turn(ID, holder="three")
    assert isinstance(taken, Resumed)
    assert (taken.turn.id, taken.turn.holder, taken.resumes) == ("t1", "three", 0)
    await replies(store, taken.turn)


async def test_a_turn_is_resumed_when_its_holder_is_gone_and_each_time_is_counted(store, clock) -> None:
    assert await store.journal.resume_turn(ID, holder="two") is None, "there is none"
    first = await begun(store, "t1")
    assert await store.journal.resume_turn(ID, holder="two") is None, "its holder lives"
    counted = []
    for holder in ("two", "three", "four"):
        clock.now += LIFE + 1
        found = await store.journal.resume_turn(ID, holder=holder)
        assert found is not None
        counted.append(found.resumes)
    assert counted == [0, 1, 2]
    assert (found.turn.fence, found.provider, found.model) == (first.fence + 3, "p", "m")
    assert found.history == [SAID]
    ended = await store.journal.resume_turn(ID, holder="five", left=found.turn.fence)
    assert ended is not None
    await store.journal.close_turn(ended.turn, state="done")
    assert await store.journal.resume_turn(ID, holder="six") is None, "it is closed"
