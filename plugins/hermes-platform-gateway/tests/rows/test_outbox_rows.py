"""Each step of an outgoing message changes its own row, in the states that allow it, to just what it says."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from gateway_house import end_drafts, rows_of

from hermes_core.store.store import Store
from hermes_core.types import Chat, Message, Principal, Session, Text
from hermes_platform_gateway.rows.values import KEPT, OutboxRow, Outgoing

ME, YOU = Principal(), Principal(person="you")
NOW = 5000.0
STATES = ("draft", "waiting", "sending", "sent", "failed", "abandoned")
ONE, TWO = (Message(role="assistant", parts=(Text(text=text),)) for text in ("one", "two"))
Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_platform_gateway.rows.outbox.time", SimpleNamespace(time=lambda: NOW))


def outgoing(key: str, *, chat: str = "", thread: str = "", **more: Any) -> Outgoing:
    known = {"owner": ME, "platform": "p", "account": "bot", "message": ONE, **more}
    return Outgoing(key=key, chat=Chat(chat or key, thread), **known)


async def row_of(store: Store, key: str) -> OutboxRow:
    [row] = await rows_of(store).outbox.outbox_of(key=key)
    return row


async def whole(store: Store) -> dict[str, OutboxRow]:
    return {row.outgoing.key: row for row in await rows_of(store).outbox.outbox_of()}


async def sending(store: Store, key: str = "a", holder: str = "h", **more: Any) -> OutboxRow:
    """A row that is being sent, in two pieces."""
    await rows_of(store).outbox.send_later(outgoing(key, **more))
    assert await rows_of(store).outbox.mark_sending(await row_of(store, key), holder, [ONE, TWO], repeated=0, now=10.0)
    return await row_of(store, key)


# What can be done with a row: (in which states, only by its holder, the action, what becomes of the row)
Action = Callable[[Store, OutboxRow, str], Awaitable[bool]]
ACTIONS: dict[str, tuple[set[str], bool, Action, dict[str, Any]]] = {
    "put": (
        {"draft"},
        False,
        lambda store, row, _: rows_of(store).outbox.send_later(
            evolve(row.outgoing, message=TWO, chat=Chat("a", "", "9"))
        ),
        {"state": "waiting", "created": NOW, "pieces": ()},
    ),
    "placeholders of a draft": (
        {"draft", "waiting"},
        True,
        lambda store, row, _: rows_of(store).outbox.mark_draft(row.id, ["7"]),
        {"placeholders": ("7",)},
    ),
    "sending": (
        {"waiting", "sending"},
        False,
        lambda store, row, _: rows_of(store).outbox.mark_sending(row, "new", [ONE], repeated=3, now=20.0),
        {"state": "sending", "holder": "new", "tries": 5, "repeated": 3, "due": 0.0, "sent": 10.0, "pieces": (ONE,)},
    ),
    "placeholder": (
        {"sending"},
        True,
        lambda store, row, holder: rows_of(store).outbox.mark_placeholder(row.id, holder, ["7", ""]),
        {"placeholders": ("7", ""), "tries": 1},
    ),
    "sent in part": (
        {"sending"},
        True,
        lambda store, row, holder: rows_of(store).outbox.mark_sent(evolve(row, repeated=2), holder, ["8"], ["9"]),
        {"state": "waiting", "receipts": ("8",), "placeholders": ("9",), "error": "", "tries": 0, "repeated": 2,
         "due": 0.0, "sent": 0.0},
    ),
    "sent": (
        {"sending"},
        True,
        lambda store, row, holder: rows_of(store).outbox.mark_sent(row, holder, ["8", "[9]"]),
        {"state": "sent", "receipts": ("8", "[9]"), "placeholders": (), "error": "", "tries": 0, "due": 0.0,
         "sent": NOW},
    ),
    "again": (
        {"sending"},
        True,
        lambda store, row, holder: rows_of(store).outbox.mark_again(
            evolve(row, tries=6, sent=11.0, repeated=1), holder, 77.0, "why"
        ),
        {"state": "waiting", "error": "why", "tries": 6, "sent": 11.0, "repeated": 1, "due": 77.0},
    ),
    "failed": (
        {"sending"},
        True,
        lambda store, row, holder: rows_of(store).outbox.mark_failed(row, holder, "why"),
        {"state": "failed", "error": "why", "sent": NOW},
    ),
    "given another life": (
        {"failed"},
        False,
        lambda store, row, _: rows_of(store).outbox.send_again(row.id),
        {"state": "waiting", "holder": "", "error": "", "tries": 1, "repeated": 0, "due": 0.0, "sent": 1.0,
         "created": NOW},
    ),
    "abandoned": (
        {"draft", "waiting"},
        False,
        lambda store, row, _: rows_of(store).outbox.abandon(row.id, "why"),
        {"state": "abandoned", "error": "why", "sent": NOW},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIONS)
async def test_a_step_is_taken_in_its_states_by_its_holder_and_touches_no_other_row(
    store: Store, sql: Sql, name: str
) -> None:
    states, held, action, changed = ACTIONS[name]
    for key in ("a", "b", "c"):
        await sending(store, key)
    holders = ("", "other") if name == "placeholders of a draft" else ("h", "other")
    for state in STATES:
        for holder in holders:
            values = f"state='{state}', holder='{holder}', tries=4, repeated=1, due=50, sent=10, created=1"
            sql(f"UPDATE platform_gateway__outbox SET {values}, placeholder='1', message_id='2', error='before'")
            before = await whole(store)
            done = await action(store, before["a"], "h")
            assert done is (state in states and (not held or holder == holders[0])), (state, holder)
            after = await whole(store)
            assert {key: after[key] for key in "bc"} == {key: before[key] for key in "bc"}
            if not done:
                assert after["a"] == before["a"], (state, holder)
                continue
            expected = evolve(before["a"], **changed)
            if name == "put":
                answer = evolve(before["a"].outgoing, message=TWO, chat=Chat("a", "", "9"))
                expected = evolve(expected, outgoing=answer)
            if name == "sending":
                expected = evolve(expected, outgoing=evolve(before["a"].outgoing, message=ONE))
            assert after["a"] == expected, (state, holder)
            sql(
                "UPDATE platform_gateway__outbox SET body="
                "(SELECT body FROM platform_gateway__outbox AS o WHERE o.key = 'b') WHERE key = 'a'"
            )


@pytest.mark.parametrize("ids", [[], [""], ["7"], ["[7]"], ["7["], ["7", ""], ["", "[7"]])
async def test_ids_of_messages_come_back_as_they_were_whatever_they_look_like(store: Store, ids: list[str]) -> None:
    row = await sending(store)
    assert await rows_of(store).outbox.mark_placeholder(row.id, "h", ids)
    assert list((await row_of(store, "a")).placeholders) == ids


def test_rows_are_kept_for_a_week() -> None:
    assert timedelta(days=7).total_seconds() == KEPT


async def test_who_sends_a_row_for_the_first_time_says_when_that_was(store: Store) -> None:
    assert (await sending(store)).sent == 10.0


async def test_a_row_is_taken_only_as_it_was_seen(store: Store) -> None:
    await rows_of(store).outbox.send_later(outgoing("a"))
    seen = await row_of(store, "a")
    for other in (evolve(seen, state="sending"), evolve(seen, holder="somebody")):
        assert not await rows_of(store).outbox.mark_sending(other, "h", [ONE], repeated=0, now=1.0)
    assert await row_of(store, "a") == seen


async def test_a_draft_is_made_once_and_known_by_its_key(store: Store) -> None:
    await rows_of(store).outbox.send_later(outgoing("other"))
    first = await rows_of(store).outbox.draft(outgoing("a", message=ONE))
    again = await rows_of(store).outbox.draft(outgoing("a", message=TWO))
    assert again == first
    assert (first.outgoing, first.state, first.created) == (outgoing("a", message=ONE), "draft", NOW)


# --- what is due


async def test_a_row_is_due_to_the_second_and_not_before(store: Store, sql: Sql) -> None:
    await rows_of(store).outbox.send_later(outgoing("a"))
    sql("UPDATE platform_gateway__outbox SET due=100")
    assert await rows_of(store).outbox.due("p", "bot", 99.5) == []
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 100.0)] == ["a"]


async def test_due_is_what_waits_or_is_sent_by_somebody_else(store: Store, sql: Sql) -> None:
    await rows_of(store).outbox.send_later(outgoing("a"))
    found = {}
    for state in STATES:
        sql(f"UPDATE platform_gateway__outbox SET state='{state}', holder='h'")
        found[state] = [
            bool(await rows_of(store).outbox.due("p", "bot", 1.0, holder=who)) for who in ("h", "other", "")
        ]
    assert found["waiting"] == [True, True, True]
    assert found["sending"] == [False, True, True]
    assert not any(any(found[state]) for state in ("draft", "sent", "failed", "abandoned"))


async def test_due_is_of_one_account_the_oldest_of_each_thread_in_order_and_so_many(store: Store) -> None:
    places = [("p", "bot", "x", ""), ("p", "bot", "x", ""), ("p", "bot", "x", "t"), ("p", "bot", "y", "")]
    places += [("q", "bot", "x", ""), ("p", "other", "x", "")]
    for number, (platform, account, chat, thread) in enumerate(places):
        await rows_of(store).outbox.send_later(
            outgoing(str(number), platform=platform, account=account, chat=chat, thread=thread)
        )
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 1.0)] == ["0", "2", "3"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 1.0, limit=2)] == ["0", "2"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("q", "bot", 1.0)] == ["4"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "other", 1.0)] == ["5"]


async def test_what_is_over_holds_nothing_of_its_chat_back(store: Store, sql: Sql) -> None:
    for key in ("0", "1"):
        await rows_of(store).outbox.send_later(outgoing(key, chat="x"))
    for state in ("draft", "sent", "failed", "abandoned"):
        sql(f"UPDATE platform_gateway__outbox SET state='{state}' WHERE key = '0'")
        assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 1.0)] == ["1"]
    sql("UPDATE platform_gateway__outbox SET state='sending', holder='h' WHERE key = '0'")
    assert await rows_of(store).outbox.due("p", "bot", 1.0, holder="h") == []


async def test_the_next_row_is_the_first_of_those_that_wait_in_an_account(store: Store, sql: Sql) -> None:
    assert await rows_of(store).outbox.next_due("p", "bot") is None
    due = {"a": ("p", "bot", 30), "b": ("p", "bot", 20), "c": ("p", "other", 10), "d": ("q", "bot", 5)}
    for key, (platform, account, at) in due.items():
        await rows_of(store).outbox.send_later(outgoing(key, platform=platform, account=account))
        sql(f"UPDATE platform_gateway__outbox SET due={at} WHERE key = '{key}'")
    assert await rows_of(store).outbox.next_due("p", "bot") == 20.0
    for state in STATES:
        sql(f"UPDATE platform_gateway__outbox SET state='{state}' WHERE key = 'b'")
        assert await rows_of(store).outbox.next_due("p", "bot") == (20.0 if state == "waiting" else 30.0), state


# --- drafts whose turn ended


async def test_a_message_stands_for_shown_drafts_of_turns_that_ended(store: Store, sql: Sql) -> None:
    session = "20260101_000000_aaaaaa"
    await store.sessions.create(Session(id=session, origin="cli", owner=ME))
    turn = await store.journal.open_turn(session, ONE, turn_id="t1", holder="h", provider="p", model="m")
    more = {"account": {"account": "other"}, "platform": {"platform": "q"}, "turn": {"turn_id": "t2"}}
    for key in ("a", "unseen", "waiting", *more):
        await rows_of(store).outbox.draft(outgoing(key, **{"turn_id": "t1", **more.get(key, {})}))
    sql("UPDATE platform_gateway__outbox SET placeholder='7' WHERE key != 'unseen'")
    sql("UPDATE platform_gateway__outbox SET state='waiting' WHERE key = 'waiting'")
    assert await end_drafts(store, "p", "bot", TWO, before=1e12) == 0  # its turn is still open
    await store.journal.close_turn(turn, state="interrupted")
    sql("UPDATE turns SET ended=100")
    assert await end_drafts(store, "p", "bot", TWO, before=100.0) == 0
    before = await whole(store)
    assert await end_drafts(store, "p", "bot", TWO, before=100.5) == 1
    after = await whole(store)
    assert (after["a"].state, after["a"].outgoing.message) == ("waiting", TWO)
    assert {key: row for key, row in after.items() if key != "a"} == {k: r for k, r in before.items() if k != "a"}


# --- looking back


async def test_a_list_fits_everything_that_is_asked_for(store: Store) -> None:
    wanted = {"key": "k", "trace": "t", "turn_id": "u", "session_id": "s", "platform": "f", "account": "c"}
    full = {"owner": ME, **wanted}
    rows = [full, *({**full, name: "z", "key": f"not {name}"} for name in wanted if name != "key")]
    rows += [{**full, "key": "other"}, {**full, "key": "yours", "owner": YOU}]
    for row in rows:
        await rows_of(store).outbox.send_later(outgoing(**row))  # type: ignore[arg-type]
    for name, value in wanted.items():
        assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(ME, **{name: value})] == [
            row["key"] for row in reversed(rows) if row[name] == value and row["owner"] == ME
        ], name
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(ME, **wanted)] == ["k"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(YOU)] == ["yours"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(limit=2)] == ["yours", "other"]
    assert await rows_of(store).outbox.outbox_of(state="sent") == []
    assert len(await rows_of(store).outbox.outbox_of(state="waiting")) == len(rows)


async def test_a_list_has_a_hundred_rows_unless_it_is_told(store: Store) -> None:
    for number in range(101):
        await rows_of(store).outbox.send_later(outgoing(str(number)))
    assert len(await rows_of(store).outbox.outbox_of()) == 100
    assert len(await rows_of(store).outbox.due("p", "bot", 1.0)) == 100


async def test_rows_are_forgotten_by_when_they_ended_and_drafts_by_when_they_began(store: Store, sql: Sql) -> None:
    for state in STATES:
        for age in (100, 101):
            await rows_of(store).outbox.send_later(outgoing(f"{state} {age}"))
            times = f"created={age}, sent=0" if state == "draft" else f"created=0, sent={age}"
            sql(f"UPDATE platform_gateway__outbox SET state='{state}', {times} WHERE key = '{state} {age}'")
    assert await rows_of(store).outbox.prune_outbox(101.0) == 4
    left = {row.outgoing.key for row in await rows_of(store).outbox.outbox_of()}
    assert left == {f"{state} 101" for state in STATES} | {"waiting 100", "sending 100"}


# --- chats that nothing reaches


async def test_a_chat_is_dead_or_alive_by_itself(store: Store, sql: Sql) -> None:
    def dead() -> dict[tuple[Any, ...], str]:
        look = "SELECT profile, person, platform, account, chat, thread, dead FROM platform_gateway__chats"
        return {row[1:-1]: row[-1] for row in sql(look)}

    places = [
        {"chat": "x"}, {"chat": "y"}, {"chat": "x", "thread": "t"}, {"chat": "x", "account": "other"},
        {"chat": "x", "platform": "q"}, {"chat": "x", "owner": YOU},
    ]  # fmt: skip
    rows = [await sending(store, f"{n}", **place) for n, place in enumerate(places)]  # type: ignore[arg-type]
    for number, row in enumerate(rows):
        before = dead()
        assert await rows_of(store).outbox.mark_failed(row, "h", f"gone {number}", dead=True)
        assert {place: why for place, why in dead().items() if place in before} == before
    assert sorted(dead().values()) == [f"gone {number}" for number in range(len(places))]
    again = await sending(store, "again", chat="x")
    assert await rows_of(store).outbox.mark_sent(again, "h", ["1"])  # one piece of two
    assert sorted(dead().values()) == [f"gone {number}" for number in range(len(places))]
    assert await rows_of(store).outbox.mark_sending(await row_of(store, "again"), "h", [ONE, TWO], repeated=0, now=1.0)
    assert await rows_of(store).outbox.mark_sent(await row_of(store, "again"), "h", ["1", "2"])
    assert sorted(dead().values()) == ["", *(f"gone {number}" for number in range(1, len(places)))]


async def test_a_chat_that_fails_again_is_dead_for_the_last_reason(store: Store, sql: Sql) -> None:
    for key, why in (("a", "first"), ("b", "last")):
        row = await sending(store, key, chat="x")
        assert await rows_of(store).outbox.mark_failed(row, "h", why, dead=True)
    assert sql("SELECT dead FROM platform_gateway__chats") == [("last",)]


async def test_the_marks_of_somebody_else_kill_and_wake_no_chat(store: Store, sql: Sql) -> None:
    row = await sending(store)
    assert not await rows_of(store).outbox.mark_failed(row, "other", "gone", dead=True)
    assert sql("SELECT dead FROM platform_gateway__chats") == []
    assert await rows_of(store).outbox.mark_failed(row, "h", "gone", dead=True)
    row = await sending(store, "b", chat="a")
    assert not await rows_of(store).outbox.mark_sent(row, "other", ["1", "2"])
    assert sql("SELECT dead FROM platform_gateway__chats") == [("gone",)]
