"""A context stands for the rows until it was made; the rows stay, and so do their search and their lists."""

import pytest

from hermes_core.store.journal import StaleLease, Store
from hermes_core.types import Message, Principal, Session, Text

ME = Principal()
TURN = {"turn_id": "t", "holder": "me", "provider": "p", "model": "m"}


def said(role, text):
    return Message(role=role, parts=(Text(text=text),))


def texts(messages):
    return [message.parts[0].text for message in messages]


@pytest.fixture
async def talked(store: Store) -> Store:
    await store.create_session(Session(id="s", origin="cli"))
    for number in range(3):
        await store.add_message("s", said("user", f"wish {number}"))
        await store.add_message("s", said("assistant", f"walrus {number}"))
    return store


async def test_what_comes_later_follows_it_and_the_newest_counts(talked: Store) -> None:
    turn = await talked.open_turn("s", said("user", "now"), **TURN)
    first = [said("user", "so far \ud800"), said("assistant", "ok"), said("user", "now")]
    kept = await talked.compact(turn, first, "memory/x")
    assert texts(kept) == ["so far \ufffd", "ok", "now"], "given back as it will be read"
    await talked.close_turn(turn, state="done")
    await talked.add_message("s", said("assistant", "done"))
    assert texts(await talked.history("s")) == [*texts(kept), "done"]
    await talked.replace_context(ME, "s", [said("user", "now"), said("assistant", "done")], "memory/x")
    assert texts(await talked.history("s")) == ["now", "done"]
    assert len(await talked.history("s", whole=True)) == 8
    assert len(await talked.messages(ME, "s")) == 8
    assert len(await talked.search(ME, "walrus")) == 3


async def test_who_lost_the_session_cannot_compact_it(talked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = await talked.open_turn("s", said("user", "now"), **TURN)
    monkeypatch.setattr("hermes_core.store.leases.is_running", lambda _pid: False)
    await talked.open_turn("s", said("user", "mine"), **{**TURN, "turn_id": "t2"})
    with pytest.raises(StaleLease):
        await talked.compact(turn, [said("user", "now")], "memory/x")
    assert texts(await talked.history("s"))[-1] == "mine"


async def test_a_deleted_session_leaves_no_context(talked: Store) -> None:
    await talked.replace_context(ME, "s", (await talked.history("s"))[-2:], "memory/x")
    await talked.delete_session("s", ME)
    await talked.create_session(Session(id="s", origin="cli"))
    assert await talked.history("s") == []
