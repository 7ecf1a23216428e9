"""Each condition of the outbox by itself: which row, of whom, in which state, and when."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from gateway_house import end_drafts, rows_of

from hermes_core.store.store import Store
from hermes_core.types import Chat, Message, Principal, Session, Text
from hermes_platform_gateway.rows.values import OutboxRow, Outgoing

ME, YOU = Principal(), Principal(person="you")
STATES = ["draft", "waiting", "sending", "sent", "failed", "abandoned"]


def said(text: str) -> Message:
    return Message(role="assistant", parts=(Text(text=text),))


def outgoing(key: str = "k", **more: Any) -> Outgoing:
    chat = Chat(more.pop("chat", "c"), more.pop("thread", ""))
    known = {"owner": ME, "platform": "p", "account": "bot", "chat": chat, "message": said(key)}
    return Outgoing(key=key, **{**known, **more})


async def row_of(store: Store, key: str) -> OutboxRow:
    [row] = await rows_of(store).outbox.outbox_of(key=key)
    return row


async def began(store: Store, row: OutboxRow, holder: str = "h", pieces: int = 1) -> OutboxRow:
    parts = [said(f"{number}") for number in range(pieces)]
    assert await rows_of(store).outbox.mark_sending(row, holder, parts, repeated=0, now=1.0)
    return await row_of(store, row.outgoing.key)


async def brought(store: Store, state: str, key: str = "", **more: Any) -> OutboxRow:
    """A row that came as far as this."""
    one = outgoing(key or state, **more)
    if state == "draft":
        return await rows_of(store).outbox.draft(one)
    await rows_of(store).outbox.send_later(one)
    row = await row_of(store, one.key)
    if state == "abandoned":
        assert await rows_of(store).outbox.abandon(row.id, "why")
    elif state != "waiting":
        row = await began(store, row)
        if state == "sent":
            assert await rows_of(store).outbox.mark_sent(row, "h", ["1"])
        elif state == "failed":
            assert await rows_of(store).outbox.mark_failed(row, "h", "why")
    found = await row_of(store, one.key)
    assert found.state == state
    return found


def keys(rows: list[OutboxRow]) -> list[str]:
    return [row.outgoing.key for row in rows]


async def test_what_is_due_waits_or_is_left_by_another(store: Store) -> None:
    for state in STATES:
        await brought(store, state, chat=state)
    assert keys(await rows_of(store).outbox.due("p", "bot", 1.0)) == ["waiting", "sending"]
    assert keys(await rows_of(store).outbox.due("p", "bot", 1.0, holder="h")) == ["waiting"]
    assert keys(await rows_of(store).outbox.due("p", "bot", 1.0, limit=1)) == ["waiting"]
    assert await rows_of(store).outbox.due("p", "other", 1.0) == await rows_of(store).outbox.due("q", "bot", 1.0) == []


@pytest.mark.parametrize(("older", "blocks"), [*zip(STATES, [False, True, True, False, False, False], strict=True)])
async def test_only_what_still_has_to_go_out_holds_up_what_comes_after(store: Store, older: str, blocks: bool) -> None:
    first = await brought(store, older)
    await rows_of(store).outbox.send_later(outgoing("later"))
    due = keys(await rows_of(store).outbox.due("p", "bot", 1.0, holder="h"))
    assert ("later" in due) is not blocks
    assert await rows_of(store).outbox.waits_before(await row_of(store, "later")) is blocks
    assert not await rows_of(store).outbox.waits_before(first), "what comes after it holds up nothing"
    for other in (outgoing("x", chat="d"), outgoing("y", thread="t"), outgoing("z", account="b")):
        await rows_of(store).outbox.send_later(other)
        assert not await rows_of(store).outbox.waits_before(await row_of(store, other.key))
    assert {"x", "y"} <= set(keys(await rows_of(store).outbox.due("p", "bot", 1.0, holder="h")))
    assert keys(await rows_of(store).outbox.due("p", "b", 1.0)) == ["z"]
    assert (await row_of(store, older)).id == first.id


async def test_when_the_next_is_due(store: Store) -> None:
    assert await rows_of(store).outbox.next_due("p", "bot") is None
    for state in ("draft", "sending", "sent", "failed", "abandoned"):
        await brought(store, state, chat=state)
    assert await rows_of(store).outbox.next_due("p", "bot") is None, "nothing waits"
    for key, due in (("a", 50.0), ("b", 20.0)):
        await rows_of(store).outbox.send_later(outgoing(key, chat=key))
        await rows_of(store).outbox.mark_again(await began(store, await row_of(store, key)), "h", due, "why")
    await rows_of(store).outbox.send_later(outgoing("c", account="other"))
    assert await rows_of(store).outbox.next_due("p", "bot") == 20.0
    assert await rows_of(store).outbox.next_due("p", "other") == 0.0
    assert await rows_of(store).outbox.next_due("q", "bot") is None
    assert keys(await rows_of(store).outbox.due("p", "bot", 20.0, holder="h")) == ["b"]
    assert keys(await rows_of(store).outbox.due("p", "bot", 50.0, holder="h")) == ["a", "b"]


MAY = {
    "mark_draft": {"draft", "waiting"},
    "mark_sending": {"waiting", "sending"},
    "mark_placeholder": {"sending"},
    "mark_sent": {"sending"},
    "mark_again": {"sending"},
    "mark_failed": {"sending"},
    "abandon": {"draft", "waiting"},
}
MARKS: dict[str, Callable[[Store, OutboxRow, str], Any]] = {
    "mark_draft": lambda store, row, by: rows_of(store).outbox.mark_draft(row.id, ["9"]),
    "mark_sending": lambda store, row, by: rows_of(store).outbox.mark_sending(
        row, by, [said("x")], repeated=0, now=2.0
    ),
    "mark_placeholder": lambda store, row, by: rows_of(store).outbox.mark_placeholder(row.id, by, ["9"]),
    "mark_sent": lambda store, row, by: rows_of(store).outbox.mark_sent(row, by, ["9"]),
    "mark_again": lambda store, row, by: rows_of(store).outbox.mark_again(row, by, 9.0, "again"),
    "mark_failed": lambda store, row, by: rows_of(store).outbox.mark_failed(row, by, "failed"),
    "abandon": lambda store, row, by: rows_of(store).outbox.abandon(row.id),
}
HELD = {"mark_placeholder", "mark_sent", "mark_again", "mark_failed"}  # by who sends it


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.few(10)
async def test_a_mark_meets_only_rows_that_are_so_far(store: Store, mark: str, state: str) -> None:
    row = await brought(store, state)
    other = await brought(store, state, "other", chat="other")
    if mark in HELD:
        assert not await MARKS[mark](store, row, "somebody else")
        assert await row_of(store, state) == row
    assert await MARKS[mark](store, row, "h") is (state in MAY[mark])
    assert ((await row_of(store, state)) == row) is (state not in MAY[mark])
    assert await row_of(store, "other") == other


async def test_one_begins_with_the_row_as_it_was_seen_or_not_at_all(store: Store) -> None:
    seen = await brought(store, "waiting")
    mine = await began(store, seen, "h")
    for stale in (seen, evolve(mine, holder="another"), evolve(mine, state="waiting")):
        assert not await rows_of(store).outbox.mark_sending(stale, "late", [said("x")], repeated=0, now=1.0)
    assert await row_of(store, "waiting") == mine
    again = await began(store, mine, "next")
    assert (again.holder, again.tries, again.sent, again.due) == ("next", 2, 1.0, 0.0)


async def test_what_is_told_of_a_try(store: Store) -> None:
    row = await brought(store, "waiting")
    assert await rows_of(store).outbox.mark_sending(row, "h", [said("one"), said("two")], repeated=2, now=7.0)
    row = await row_of(store, "waiting")
    assert (row.repeated, row.tries, row.sent, [*row.pieces]) == (2, 1, 7.0, [said("one"), said("two")])
    assert await rows_of(store).outbox.mark_sent(row, "h", ["a"], ["b", "c"])
    row = await row_of(store, "waiting")
    assert (row.state, row.repeated, row.tries, row.sent, row.due) == ("waiting", 2, 0, 0.0, 0.0)
    assert ([*row.receipts], [*row.placeholders], row.error) == (["a"], ["b", "c"], "")
    row = await began(store, row, pieces=2)
    assert await rows_of(store).outbox.mark_again(evolve(row, tries=5, repeated=1), "h", 33.0, "why\0 not")
    row = await row_of(store, "waiting")
    assert (row.state, row.tries, row.repeated, row.due, row.error) == ("waiting", 5, 1, 33.0, "why not")
    assert ([*row.receipts], [*row.placeholders], row.sent) == (["a"], ["b", "c"], 1.0)
    before, row = time.time(), await began(store, row, pieces=2)
    assert await rows_of(store).outbox.mark_sent(row, "h", ["a", "d"])
    row = await row_of(store, "waiting")
    assert (row.state, row.error, [*row.receipts], [*row.placeholders]) == ("sent", "", ["a", "d"], [])
    assert before <= row.sent <= time.time()


@pytest.mark.parametrize("ids", [[], [""], ["a"], ["[a"], ["", ""], ["a", ""], ["", "b"], ["a", "[]", "ü"]])
async def test_ids_are_read_as_they_were_written(store: Store, ids: list[str]) -> None:
    row = await rows_of(store).outbox.draft(outgoing())
    assert await rows_of(store).outbox.mark_draft(row.id, ids)
    assert [*(await row_of(store, "k")).placeholders] == ids


async def test_a_draft_is_finished_once_and_nothing_else_is_written_over(store: Store) -> None:
    for state in STATES:
        row = await brought(store, state, chat=state)
        assert await rows_of(store).outbox.send_later(outgoing(state, chat=state, message=said("the end"))) is (
            state == "draft"
        )
        found = await row_of(store, state)
        assert found == row or (found.state, found.outgoing.message) == ("waiting", said("the end"))
        assert (await rows_of(store).outbox.draft(outgoing(state))) == found


async def test_answers_that_never_came_are_ended_for_one_account_once_their_turn_is_over(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="cli"))
    given = {"holder": "h", "provider": "p", "model": "m"}

    async def shown(key: str, turn: str, *, placeholders: int = 1, **more: str) -> None:
        row = await rows_of(store).outbox.draft(outgoing(key, turn_id=turn, chat=key, **more))
        assert await rows_of(store).outbox.mark_draft(row.id, ["1"][:placeholders])

    asked = Message(role="user", parts=(Text(text="go"),))
    over = await store.journal.open_turn("s", asked, turn_id="over", **given)
    await store.journal.close_turn(over, state="done")
    ended = time.time()
    await store.journal.open_turn("s", asked, turn_id="open", **given)
    await shown("mine", "over")
    await shown("unseen", "over", placeholders=0)
    await shown("running", "open")
    await shown("theirs", "over", account="other")
    await shown("elsewhere", "over", platform="q")
    await brought(store, "waiting", turn_id="over", chat="w")
    assert await end_drafts(store, "p", "bot", said("(none)"), ended - 60) == 0
    assert await end_drafts(store, "p", "bot", said("(none)"), ended + 60) == 1
    found = {row.outgoing.key: row.state for row in await rows_of(store).outbox.outbox_of()}
    assert found == {
        "mine": "waiting", "unseen": "draft", "running": "draft", "theirs": "draft", "elsewhere": "draft",
        "waiting": "waiting",
    }  # fmt: skip
    row = await row_of(store, "mine")
    assert (row.outgoing.message, [*row.placeholders]) == (said("(none)"), ["1"])


async def test_a_chat_is_dead_and_alive_for_itself_alone(store: Store, sql: Callable[[str], list[tuple]]) -> None:
    places = [{"chat": "a"}, {"chat": "a", "thread": "t"}, {"chat": "b"}, {"chat": "a", "account": "x"}]

    async def dead() -> list[tuple]:
        return sorted(sql("SELECT chat, thread, account, dead FROM platform_gateway__chats WHERE dead != ''"))

    for number, place in enumerate(places):
        await rows_of(store).outbox.send_later(outgoing(f"dead{number}", **place))
        row = await began(store, await row_of(store, f"dead{number}"))
        assert await rows_of(store).outbox.mark_failed(row, "h", f"gone{number}", dead=True)
    every = [("a", "", "bot", "gone0"), ("a", "", "x", "gone3"), ("a", "t", "bot", "gone1"), ("b", "", "bot", "gone2")]
    assert await dead() == every
    row = await brought(store, "failed", "only", chat="c")
    assert await dead() == every, "this one was given up for another reason"
    await rows_of(store).outbox.send_later(outgoing("half", chat="a"))
    row = await began(store, await row_of(store, "half"), pieces=2)
    assert await rows_of(store).outbox.mark_sent(row, "h", ["1"])
    assert await dead() == every, "not all of it arrived"
    row = await began(store, await row_of(store, "half"), pieces=2)
    assert await rows_of(store).outbox.mark_sent(row, "h", ["1", "2"])
    assert await dead() == every[1:]


async def test_lists_are_as_far_as_they_are_asked_for(store: Store) -> None:
    first = {"trace": "t1", "turn_id": "u1", "session_id": "s1", "platform": "p1", "account": "a1"}
    for number in (1, 2):
        given = {name: f"{word[0]}{number}" for name, word in first.items()}
        await rows_of(store).outbox.send_later(outgoing(f"k{number}", owner=(ME, YOU)[number - 1], **given))
    await began(store, await row_of(store, "k2"))
    for name, word in {**first, "key": "k1", "state": "waiting"}.items():
        assert keys(await rows_of(store).outbox.outbox_of(**{name: word})) == ["k1"], name
        assert keys(await rows_of(store).outbox.outbox_of(YOU, **{name: word})) == [], name
    assert keys(await rows_of(store).outbox.outbox_of()) == ["k2", "k1"]
    assert keys(await rows_of(store).outbox.outbox_of(limit=1)) == ["k2"]
    assert keys(await rows_of(store).outbox.outbox_of(ME)) == ["k1"]
    assert keys(await rows_of(store).outbox.outbox_of(ME, trace="t1", state="sent")) == []
    assert await rows_of(store).outbox.outbox_counts() == {("p1", "a1", "waiting"): 1, ("p2", "a2", "sending"): 1}


async def test_only_what_is_over_or_was_never_written_to_its_end_is_forgotten(store: Store) -> None:
    for state in STATES:
        await brought(store, state, chat=state)
    assert await rows_of(store).outbox.prune_outbox(time.time() - 60) == 0
    assert await rows_of(store).outbox.prune_outbox(time.time() + 60) == 4
    assert sorted(keys(await rows_of(store).outbox.outbox_of())) == ["sending", "waiting"]
