"""One gateway at a time serves an account, whatever dies; and what nobody plays is found, whoever it belongs to."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from gateway_house import rows_of, unplayed

from hermes_core.store import leases
from hermes_core.store.accounts import StaleAccount
from hermes_core.store.store import Store
from hermes_core.types import Envelope, Message, Principal, Session, Text

ANNA, BEN = Principal(person="anna"), Principal(person="ben")


@pytest.fixture
def grave() -> int:
    """The id of a process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def user(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))


async def arrived(store: Store, session: Session, event: str, *, platform: str = "demo") -> None:
    """A message that waits in a session: from a chat of the gateway, or from a terminal."""
    said = {"chat": "1", "sender": session.owner.person, "message": user(event)}
    envelope = Envelope(platform=platform, account="bot", event_id=event, **said)
    if platform == "demo":
        await rows_of(store).chats.remember_chat(session.owner, envelope)
    await store.inbox.wait(session.id, envelope.message, mode="queue", envelope=envelope)


# --- accounts -----------------------------------------------------------------------------------------------------


async def test_one_holder_at_a_time(reopen: Callable[..., Store]) -> None:
    here, there = reopen(), reopen()
    first = await here.accounts.lease("demo", "bot", holder="one")
    assert first is not None
    assert await there.accounts.lease("demo", "bot", holder="two") is None
    assert await there.accounts.lease("demo", "other bot", holder="two") is not None
    await here.accounts.renew(first)


async def test_who_stops_is_followed_at_once(reopen: Callable[..., Store]) -> None:
    here, there = reopen(), reopen()
    first = await here.accounts.lease("demo", "bot", holder="one")
    assert first
    await here.accounts.release(first)
    second = await there.accounts.lease("demo", "bot", holder="two")
    assert second is not None
    assert second.fence > first.fence
    await here.accounts.release(first)  # late, and quiet
    await there.accounts.renew(second)


async def test_who_died_on_this_machine_is_followed_at_once(
    store: Store, grave: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: grave)
        first = await store.accounts.lease("demo", "bot", holder="one")
    second = await store.accounts.lease("demo", "bot", holder="two")
    assert first is not None
    assert second is not None
    for write in (store.accounts.renew(first), store.accounts.renew(first, "connected")):
        with pytest.raises(StaleAccount, match="Another gateway serves demo bot now"):
            await write
    await store.accounts.renew(second)


async def test_who_is_silent_is_followed_after_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await store.accounts.lease("demo", "bot", holder="one")
    assert await store.accounts.lease("demo", "bot", holder="two") is None
    monkeypatch.setattr(leases, "LIFE", -1.0)
    second = await store.accounts.lease("demo", "bot", holder="two")
    assert first is not None
    assert second is not None
    with pytest.raises(StaleAccount):
        await store.accounts.renew(first)


async def test_how_an_account_stands_is_told(store: Store) -> None:
    lease = await store.accounts.lease("demo", "bot", holder="one")
    assert lease
    [row] = await store.accounts.list()
    assert (row.platform, row.account, row.holder, row.state, row.served) == ("demo", "bot", "one", "connecting", True)
    await store.accounts.renew(lease, "parked", "The token was refused.")
    [row] = await store.accounts.list()
    assert (row.state, row.error) == ("parked", "The token was refused.")
    await store.accounts.release(lease)
    [row] = await store.accounts.list()
    assert (row.holder, row.state, row.served) == ("", "stopped", False)
    assert await store.accounts.lease("demo", "bot", holder="one")
    [row] = await store.accounts.list()
    assert (row.state, row.error) == ("connecting", "")


# --- what nobody plays --------------------------------------------------------------------------------------------


async def test_what_waits_is_found_whoever_it_belongs_to(store: Store) -> None:
    for number, owner in enumerate((ANNA, BEN, ANNA)):
        session = Session(id=f"s{number}", origin="demo", owner=owner, cwd="/")
        await store.sessions.create(session)
        await arrived(store, session, f"event {number}", platform="demo" if number < 2 else "terminal")
    assert await unplayed(store) == [("s0", ANNA), ("s1", BEN)]  # the third is somebody's at a terminal
    assert await unplayed(store, limit=1) == [("s0", ANNA)]
    assert await store.sessions.owner("s1") == BEN
    assert await store.sessions.owner("nobody's") is None


async def test_a_turn_that_was_cut_off_comes_first_and_one_that_plays_not_at_all(
    store: Store, grave: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("waits", "plays", "cut"):
        session = Session(id=name, origin="demo", owner=ANNA, cwd="/")
        await store.sessions.create(session)
        await arrived(store, session, name)
    for name, pid in (("plays", os.getpid()), ("cut", grave)):
        with monkeypatch.context() as where:
            where.setattr(os, "getpid", lambda pid=pid: pid)
            [one] = await store.inbox.waiting(name)
            given = {"turn_id": f"turn of {name}", "holder": name, "provider": "p", "model": "m"}
            await store.journal.open_turn(name, one.message, waited=one.id, **given)
    assert [name for name, _ in await unplayed(store)] == ["cut", "waits"]


async def test_what_waited_in_a_deleted_session_is_not_found(store: Store) -> None:
    session = Session(id="gone", origin="demo", owner=ANNA, cwd="/")
    await store.sessions.create(session)
    await arrived(store, session, "late")
    await store.sessions.delete("gone", ANNA)
    assert await unplayed(store) == []
