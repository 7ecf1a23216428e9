"""What nobody plays is found, whoever it belongs to."""

import os
import subprocess
import sys

import pytest
from gateway_house import rows_of, unplayed

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


async def test_what_waits_is_found_whoever_it_belongs_to(store: Store) -> None:
    for number, owner in enumerate((ANNA, BEN, ANNA)):
        session = Session(id=f"s{number}", origin="demo", owner=owner, cwd="/")
        await store.sessions.create(session)
        await arrived(store, session, f"event {number}", platform="demo" if number < 2 else "terminal")
    assert await unplayed(store) == [("s0", ANNA), ("s1", BEN)]  # the third is somebody's at a terminal
    assert await unplayed(store, limit=1) == [("s0", ANNA), ("s1", BEN)]  # what much waits for one hides nobody's
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
