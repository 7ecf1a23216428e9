"""A context stands for the rows until it was made; the rows stay, and so do their search and their lists."""

import pytest

from hermes_core.errors import Duplicate, UnknownName, UserError
from hermes_core.store.leases import Busy, StaleLease
from hermes_core.store.store import Store
from hermes_core.types import Message, Principal, Session, Text

ME = Principal()
TURN = {"turn_id": "t", "holder": "me", "provider": "p", "model": "m"}


def said(role, text):
    return Message(role=role, parts=(Text(text=text),))


def texts(messages):
    return [message.parts[0].text for message in messages]


@pytest.fixture
async def talked(store: Store) -> Store:
    await store.sessions.create(Session(id="s", origin="cli"))
    for number in range(3):
        await store.history.add("s", said("user", f"wish {number}"))
        await store.history.add("s", said("assistant", f"walrus {number}"))
    return store


async def test_what_comes_later_follows_it_and_the_newest_counts(talked: Store) -> None:
    turn = await talked.journal.open_turn("s", said("user", "now"), **TURN)
    first = [said("user", "so far \ud800"), said("assistant", "ok"), said("user", "now")]
    kept = await talked.history.compact(turn, first, "memory/x")
    assert texts(kept) == ["so far \ufffd", "ok", "now"], "given back as it will be read"
    await talked.journal.close_turn(turn, state="done")
    await talked.history.add("s", said("assistant", "done"))
    assert texts(await talked.history.load("s")) == [*texts(kept), "done"]
    await talked.history.replace(ME, "s", [said("user", "now"), said("assistant", "done")], "memory/x")
    assert texts(await talked.history.load("s")) == ["now", "done"]
    assert len(await talked.history.load("s", whole=True)) == 8
    assert len(await talked.history.messages(ME, "s")) == 8
    assert len(await talked.history.search(ME, "walrus")) == 3


async def test_who_lost_the_session_cannot_compact_it(talked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = await talked.journal.open_turn("s", said("user", "now"), **TURN)
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda _pid: False)
    await talked.journal.open_turn("s", said("user", "mine"), **{**TURN, "turn_id": "t2"})
    with pytest.raises(StaleLease):
        await talked.history.compact(turn, [said("user", "now")], "memory/x")
    assert texts(await talked.history.load("s"))[-1] == "mine"


async def test_a_deleted_session_leaves_no_context(talked: Store) -> None:
    await talked.history.replace(ME, "s", (await talked.history.load("s"))[-2:], "memory/x")
    await talked.sessions.delete("s", ME)
    await talked.sessions.create(Session(id="s", origin="cli"))
    assert await talked.history.load("s") == []


async def test_what_is_taken_back_stays_in_the_rows_and_is_marked(talked: Store) -> None:
    await talked.history.replace(ME, "s", (await talked.history.load("s"))[2:], "memory/x")
    assert texts(await talked.history.undo(ME, "s", 1, "undo 1")) == ["wish 2"]
    assert texts(await talked.history.load("s")) == ["wish 1", "walrus 1"]
    assert texts(m for _, m in await talked.history.messages(ME, "s"))[-1].startswith(
        "(The last exchange was taken back"
    )
    assert len(await talked.history.search(ME, "walrus")) == 3
    await talked.history.add("s", said("user", "anew"))
    assert texts(await talked.history.undo(ME, "s", 9, "undo 2")) == ["wish 1", "anew"]
    assert await talked.history.load("s") == []
    assert await talked.history.undo(ME, "s", 1, "undo 3") == []


@pytest.mark.parametrize("role", ["user", "assistant"])
async def test_what_stands_for_compacted_messages_is_no_exchange_and_nothing_before_it_goes(
    talked: Store, role
) -> None:
    block = Message(role=role, parts=(Text(text="so far"),), meta={"hermes": {"stands": "x"}})
    between = [said("assistant", "yes"), block] if role == "user" else [block]
    old = (await talked.history.load("s"))[-2:]
    await talked.history.add("s", said("assistant", "what takes much room " * 20))
    first = [said("user", "wish 0"), *between, *([said("assistant", "on")] if role == "user" else [])]
    await talked.history.replace(ME, "s", [*first, *old], "memory/x")
    await talked.history.add("s", said("user", "anew"))
    assert texts(await talked.history.undo(ME, "s", 6, "undo 1")) == ["wish 2", "anew"]
    assert texts(await talked.history.load("s")) == texts(first)
    assert await talked.history.undo(ME, "s", 1, "undo 2") == []


async def test_one_order_to_take_back_is_carried_out_once(talked: Store) -> None:
    await talked.history.undo(ME, "s", 1, "undo e7")
    with pytest.raises(Duplicate):
        await talked.history.undo(ME, "s", 1, "undo e7")
    assert texts(await talked.history.load("s"))[-2:] == ["wish 1", "walrus 1"]


async def test_nothing_is_taken_back_while_a_turn_is_open_or_by_others(talked: Store, monkeypatch) -> None:
    await talked.journal.open_turn("s", said("user", "now"), **TURN)
    with pytest.raises(Busy):
        await talked.history.undo(ME, "s", 1, "undo 1")
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda _pid: False)
    with pytest.raises(UserError, match="was cut off"):
        await talked.history.undo(ME, "s", 1, "undo 1")
    with pytest.raises(UnknownName):
        await talked.history.undo(Principal(person="hana"), "s", 1, "undo 1")
    assert texts(await talked.history.load("s"))[-1] == "now"


async def test_a_copy_tells_its_model_what_the_first_one_does(talked: Store) -> None:
    await talked.history.undo(ME, "s", 2, "undo 1")
    await talked.sessions.fork(ME, "s", Session(id="copy", origin="cli"))
    assert texts(await talked.history.load("copy")) == ["wish 0", "walrus 0"]
    await talked.history.add("copy", said("user", "on"))
    assert texts(await talked.history.load("copy")) == ["wish 0", "walrus 0", "on"]
    assert len(await talked.history.search(ME, "walrus")) == 6, "what was taken back can still be found"
