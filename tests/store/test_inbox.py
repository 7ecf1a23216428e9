"""What came in is known once, waits where it belongs, and is taken, given up or forgotten by itself."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from gateway_house import rows_of, unplayed

from hermes_core.errors import Duplicate
from hermes_core.store import inbox
from hermes_core.store.store import Store
from hermes_core.types import (
    Blob,
    Chat,
    Envelope,
    Message,
    Principal,
    Session,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    Waiting,
)
from hermes_platform_gateway.rows.values import Outgoing

ME, YOU = Principal(), Principal(person="you")
FIRST, OTHER = "20260101_000000_aaaaaa", "20260101_000000_bbbbbb"
NOW = 5000.0
Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
async def sessions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_core.store.inbox.time", SimpleNamespace(time=lambda: NOW))
    for name, owner in ((FIRST, ME), (OTHER, YOU)):
        await store.sessions.create(Session(id=name, origin="cli", owner=owner))


def user(text: str, **more: Any) -> Message:
    return Message(role="user", parts=(Text(text=text),), **more)


def envelope(event_id: str = "1", text: str = "hello", **more: Any) -> Envelope:
    known = {"platform": "p", "account": "bot", "chat": "c", "sender": "s", "message": user(text), **more}
    return Envelope(event_id=event_id, **known)


async def waits(store: Store, event_id: str, mode: str = "queue", session_id: str = FIRST, **more: Any) -> None:
    came = envelope(event_id, **more)
    await store.inbox.wait(session_id, came.message, mode=mode, envelope=came, trace=f"trace {event_id}")


async def begun(store: Store, turn_id: str = "t1", session_id: str = FIRST, **more: Any) -> Any:
    known = {"turn_id": turn_id, "holder": "h", "provider": "p", "model": "m"}
    return await store.journal.open_turn(session_id, user("go"), **known, **more)


def texts(waiting: list[Waiting]) -> list[str]:
    return [part.text for one in waiting for part in one.message.parts if isinstance(part, Text)]


def table(sql: Sql) -> dict[str, tuple[Any, ...]]:
    """What each event's row says of its way."""
    rows = sql("SELECT event_id, turn_id, mode, body != '', envelope != '' FROM inbox ORDER BY id")
    return {str(row[0]): row[1:] for row in rows}


# --- coming in


async def test_what_waits_is_kept_as_it_came_in_its_order(store: Store, sql: Sql) -> None:
    full = {"thread": "t", "kind": "group", "addressed": False, "sender_name": "Sue", "chat_name": "Friends",
            "message_id": "9", "quote": "what?", "roles": ("admin", "guest")}  # fmt: skip
    await waits(store, "1", "steer", text="first", **full)
    await waits(store, "2", text="second")
    await waits(store, "3", session_id=OTHER, text="third")
    one, two = await store.inbox.waiting(FIRST)
    assert (one.message, one.mode, one.trace) == (user("first"), "steer", "trace 1")
    assert (two.message, two.mode, two.trace) == (user("second"), "queue", "trace 2")
    assert one.envelope == envelope("1", "first", **full)
    assert two.envelope == envelope("2", "second")
    assert texts(await store.inbox.waiting(OTHER)) == ["third"]
    assert sql("SELECT DISTINCT received FROM inbox") == [(NOW,)]


async def test_an_event_is_the_same_only_with_its_platform_and_account(store: Store) -> None:
    await waits(store, "1")
    for more in ({}, {"text": "other"}):
        with pytest.raises(Duplicate, match="Message p/bot/1 was received before"):
            await waits(store, "1", **more)
    with pytest.raises(Duplicate):
        await begun(store, envelope=envelope("1"))
    with pytest.raises(Duplicate):
        await waits(store, "1", session_id=OTHER)
    await waits(store, "1", platform="q")
    await waits(store, "1", account="other")
    assert len(await store.inbox.waiting(FIRST)) == 3


async def test_what_begins_a_turn_is_received_with_it(store: Store, sql: Sql) -> None:
    turn = await begun(store, envelope=envelope("1", quote="what?"), trace="abc")
    assert sql("SELECT turn_id, trace, received FROM inbox") == [("t1", "abc", NOW)]
    assert await store.inbox.waiting(FIRST) == []
    await store.journal.close_turn(turn, state="done")
    with pytest.raises(Duplicate, match="Message p/bot/1 was received before"):
        await begun(store, "t2", envelope=envelope("1"))


async def test_what_waits_since_before_envelopes_were_stored_has_none(store: Store, sql: Sql) -> None:
    await waits(store, "1", text="old")
    sql("UPDATE inbox SET envelope=''")
    [one] = await store.inbox.waiting(FIRST)
    assert (one.envelope, one.message) == (None, user("old"))


def test_an_address_says_only_what_is_not_usual() -> None:
    assert inbox.address_to_json(envelope("1")) == (
        '{"platform":"p","account":"bot","event_id":"1","chat":"c","sender":"s"}'
    )
    read = inbox.address_from_json(
        '{"platform":"p","account":"bot","event_id":"1","chat":"c","sender":"s","new":1}', user("hello")
    )
    assert read == envelope("1")


# --- being taken


async def test_a_message_has_its_turn_once(store: Store, sql: Sql) -> None:
    for event in ("1", "2"):
        await waits(store, event)
    one, two = await store.inbox.waiting(FIRST)
    turn = await begun(store, waited=one.id)
    assert table(sql) == {"1": ("t1", "queue", 1, 1), "2": ("", "queue", 1, 1)}
    await store.journal.close_turn(turn, state="done")
    with pytest.raises(Duplicate, match="has had its turn"):
        await begun(store, "t2", waited=one.id)
    assert [left.id for left in await store.inbox.waiting(FIRST)] == [two.id]


async def test_what_waits_is_given_up_in_one_session(store: Store, sql: Sql) -> None:
    await waits(store, "1")
    await waits(store, "2", "steer")
    await waits(store, "3", session_id=OTHER)
    assert await store.inbox.drop(FIRST) == 2
    assert await store.inbox.drop(FIRST) == 0
    assert {event: row[0] for event, row in table(sql).items()} == {"1": "dropped", "2": "dropped", "3": ""}


async def test_what_steers_goes_below_the_next_result_and_the_rest_waits_on(store: Store, sql: Sql) -> None:
    picture = Blob(media_type="image/png", data=b"x")
    turn = await begun(store)
    call = ToolCall(id="c1", name="ls", arguments={})
    await store.journal.add_reply(turn, Message(role="assistant", parts=(call,)), Usage(), "tools")
    await waits(store, "1", "queue", text="later")
    await waits(store, "2", "steer", text="left")
    await waits(store, "3", "steer", message=Message(role="user", parts=(Text(text="ri"), picture, Text(text="ght"))))
    await waits(store, "4", "steer", session_id=OTHER, text="not yours")
    result = ToolResult(call_id="c1", name="ls", parts=(Text(text="done"),))
    kept = await store.journal.finish_call(turn, call, result, outcome="ok", seconds=0.0)
    notes = [Text(text=f"\n\n<note-from-user>\n{text}\n</note-from-user>") for text in ("left", "right")]
    assert kept.parts == (Text(text="done"), *notes, picture)
    assert not kept.untrusted
    assert {event: row[0] for event, row in table(sql).items()} == {"1": "", "2": "t1", "3": "t1", "4": ""}


# --- commands and requests to stop


async def test_a_stop_is_no_message_and_is_said_once_in_its_session(store: Store, sql: Sql) -> None:
    await waits(store, "1", "stop")
    await waits(store, "2", "queue")
    await waits(store, "3", "stop", OTHER)
    assert [one.mode for one in await store.inbox.waiting(FIRST)] == ["queue"]
    assert await store.inbox.stop_wanted(FIRST)
    assert not await store.inbox.stop_wanted(FIRST)
    assert {event: row[0] for event, row in table(sql).items()} == {"1": "command", "2": "", "3": ""}
    assert await store.inbox.stop_wanted(OTHER)


async def test_a_command_waits_for_its_account_until_it_was_carried_out(store: Store) -> None:
    rows, outbox = {}, rows_of(store).outbox
    for event, more in {"1": {}, "2": {}, "3": {"platform": "q"}, "4": {"account": "other"}}.items():
        rows[event] = await store.inbox.hear(ME, envelope(event, f"/{event}", **more), "trace")
    await waits(store, "5")
    assert texts(await store.inbox.commands_waiting("p", "bot")) == ["/1", "/2"]
    assert texts(await store.inbox.commands_waiting("q", "bot")) == ["/3"]
    assert texts(await store.inbox.commands_waiting("p", "other")) == ["/4"]
    answer = Outgoing(key="k", owner=ME, platform="p", account="bot", chat=Chat("c"), message=user("did it"))
    await store.inbox.done(rows["1"], await outbox.sending([answer]))
    assert texts(await store.inbox.commands_waiting("p", "bot")) == ["/2"]
    with pytest.raises(Duplicate):
        await store.inbox.done(rows["1"], await outbox.sending([evolve(answer, key="again")]))
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of()] == ["k"]
    with pytest.raises(Duplicate):
        await store.inbox.hear(ME, envelope("1", "/1"), "trace")


async def test_only_commands_that_were_carried_out_before_an_instant_are_forgotten(store: Store, sql: Sql) -> None:
    for event in ("old", "new", "undone"):
        row = await store.inbox.hear(ME, envelope(event, f"/{event}"), "trace")
        if event != "undone":
            await store.inbox.done(row)
    await waits(store, "said")
    await begun(store, waited=(await store.inbox.waiting(FIRST))[0].id)
    sql("UPDATE inbox SET received=99 WHERE event_id != 'new'")
    sql("UPDATE inbox SET received=100 WHERE event_id = 'new'")
    await store.inbox.forget(100.0)
    assert table(sql) == {"old": ("command", "command", 0, 0), "new": ("command", "command", 1, 1),
                          "undone": ("", "command", 1, 1), "said": ("t1", "queue", 1, 1)}  # fmt: skip


# --- where somebody waits


async def test_sessions_in_which_a_message_waits_are_told_to_their_owner_in_order(store: Store) -> None:
    third = "20260101_000000_cccccc"
    await store.sessions.create(Session(id=third, origin="cli", owner=ME))
    await waits(store, "1", session_id=third)
    await waits(store, "2", session_id=OTHER)
    await waits(store, "3")
    assert await store.journal.interrupted(ME) == [third, FIRST]
    assert await store.journal.interrupted(YOU) == [OTHER]
    turn = await begun(store, session_id=third, waited=(await store.inbox.waiting(third))[0].id)
    assert await store.journal.interrupted(ME) == [FIRST]
    await store.journal.close_turn(turn, state="done")
    assert await store.journal.interrupted(ME) == [FIRST]


async def test_what_came_through_the_gateway_and_waits_is_told_of_all_owners(store: Store) -> None:
    third = "20260101_000000_cccccc"
    await store.sessions.create(Session(id=third, origin="cli", owner=ME))
    await waits(store, "1", session_id=OTHER)
    await waits(store, "2")
    await waits(store, "3", session_id=third, account="api")
    assert await unplayed(store) == []  # no chat is known yet
    await rows_of(store).chats.remember_chat(YOU, envelope("1"))
    assert await unplayed(store) == [(OTHER, YOU)]
    await rows_of(store).chats.remember_chat(ME, envelope("2"))
    assert await unplayed(store) == [(OTHER, YOU), (FIRST, ME)]
    await begun(store, session_id=OTHER, waited=(await store.inbox.waiting(OTHER))[0].id)
    assert await unplayed(store) == [(FIRST, ME)]


# --- being forgotten


async def test_a_deleted_session_leaves_of_its_messages_only_that_they_came(store: Store, sql: Sql) -> None:
    await waits(store, "waits")
    await waits(store, "had its turn")
    await waits(store, "dropped before")
    await waits(store, "of another", session_id=OTHER)
    rows = {one.envelope.event_id: one.id for one in await store.inbox.waiting(FIRST) if one.envelope}
    turn = await begun(store, waited=rows["had its turn"])
    await store.journal.close_turn(turn, state="done")
    other = await begun(store, "t2", OTHER, envelope=envelope("began another"))
    await store.journal.close_turn(other, state="done")
    sql("UPDATE inbox SET turn_id='dropped' WHERE event_id = 'dropped before'")
    await store.sessions.delete(FIRST, ME)
    body_and_envelope = {event: row[2:] for event, row in table(sql).items()}
    assert body_and_envelope == {"waits": (0, 0), "had its turn": (0, 0), "dropped before": (0, 0),
                                 "of another": (1, 1), "began another": (0, 1)}  # fmt: skip


async def test_an_event_is_forgotten_by_itself(store: Store) -> None:
    key = {"platform": "p", "account": "bot", "event_id": "1"}
    await waits(store, "1")
    await waits(store, "2")
    await waits(store, "1", platform="q")
    await waits(store, "1", account="other")
    assert not await store.traces.forget_event(YOU, **key)
    assert not await store.traces.forget_event(ME, **{**key, "event_id": "9"})
    assert len(await store.inbox.waiting(FIRST)) == 4
    assert await store.traces.forget_event(ME, **key)
    assert not await store.traces.forget_event(ME, **key)
    left = [one.envelope for one in await store.inbox.waiting(FIRST)]
    assert left == [envelope("2"), envelope("1", platform="q"), envelope("1", account="other")]


# --- what was said there from elsewhere


async def test_what_is_sent_to_a_chat_is_told_to_its_conversation_once(store: Store, sql: Sql) -> None:
    async def post(session: str, key: str, told: Message) -> bool:
        sent = Outgoing(key=key, owner=ME, platform="p", account="bot", chat=Chat("c"), message=user("sent"))
        return await store.notes.post(session, key, told, await rows_of(store).outbox.sending([sent]))

    turn, other = await begun(store), await begun(store, "t2", OTHER)
    for number, text in enumerate(("one", "two")):
        assert await post(FIRST, text, user(text))
        assert not await post(FIRST, text, user("again"))
        assert await post(OTHER, f"other {number}", user(f"other {text}"))
    assert len(await store.history.messages(ME, FIRST)) == 1  # the turn is not taken apart
    assert await store.inbox.waiting(FIRST) == []
    await store.journal.close_turn(turn, state="done")
    said = [
        part.text for _, one in await store.history.messages(ME, FIRST) for part in one.parts if isinstance(part, Text)
    ]
    assert said == ["go", "one", "two"]
    assert len(await store.history.messages(YOU, OTHER)) == 1
    await store.journal.close_turn(other, state="done")
    assert [message.role for _, message in await store.history.messages(YOU, OTHER)] == ["user"] * 3
    await store.journal.close_turn(await begun(store, "t3"), state="done")
    assert (
        len(await store.history.messages(ME, FIRST)) == 5
    )  # with what was said next, and the word that stands for its answer
    assert {row[0] for row in table(sql).values()} == {"mirrored"}
