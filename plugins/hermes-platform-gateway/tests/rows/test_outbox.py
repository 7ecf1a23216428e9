"""The outbox: what was put once is there once, and every mark belongs to who sends."""

import time

from attrs import evolve
from gateway_house import rows_of

from hermes_core.types import Button, Buttons, Chat, Message, Principal, Text
from hermes_platform_gateway.rows.values import Outgoing

ME, YOU = Principal(), Principal(person="you")


def outgoing(key: str = "k", text: str = "Hello.", **more) -> Outgoing:
    chat = Chat(more.pop("chat", "c"), more.pop("thread", ""), more.pop("reply_to", ""))
    message = Message(role="assistant", parts=(Text(text=text),))
    return Outgoing(key=key, owner=ME, platform="p", account="bot", chat=chat, message=message, **more)


async def take(store, row, holder="h", pieces=None, **more):
    assert await rows_of(store).outbox.mark_sending(
        row, holder, pieces or [row.outgoing.message], repeated=0, now=1.0, **more
    )
    [taken] = await rows_of(store).outbox.outbox_of(key=row.outgoing.key)
    return taken


async def test_what_is_put_is_due_once_however_often_it_is_put(store):
    buttons = Buttons(buttons=(Button(label="Yes", says="/approve 1"),))
    first = outgoing(reply_to="9", thread="t", trace="0123456789abcdef", turn_id="t1", session_id="s", kind="question")
    first = evolve(first, message=Message(role="assistant", parts=(Text(text="Sure? 🦊"), buttons)))
    assert await rows_of(store).outbox.send_later(first)
    assert not await rows_of(store).outbox.send_later(evolve(first, message=outgoing(text="other").message))
    [row] = await rows_of(store).outbox.due("p", "bot", time.time())
    assert row.outgoing == first
    assert (row.state, row.tries, row.repeated) == ("waiting", 0, 0)
    assert await rows_of(store).outbox.due("p", "another", time.time()) == []


async def test_of_each_chat_and_thread_the_oldest_is_due(store):
    for number, (chat, thread) in enumerate([("a", ""), ("a", ""), ("b", ""), ("a", "t")]):
        await rows_of(store).outbox.send_later(outgoing(str(number), chat=chat, thread=thread))
    due = await rows_of(store).outbox.due("p", "bot", 1.0)
    assert [row.outgoing.key for row in due] == ["0", "2", "3"]
    await take(store, due[0])
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 1.0, holder="h")] == ["2", "3"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 1.0, holder="other")] == [
        "0",
        "2",
        "3",
    ]


async def test_what_waits_for_its_time_holds_back_its_chat_only(store):
    for key, chat in (("0", "a"), ("1", "a"), ("2", "b")):
        await rows_of(store).outbox.send_later(outgoing(key, chat=chat))
    first = await take(store, (await rows_of(store).outbox.due("p", "bot", 1.0))[0])
    assert await rows_of(store).outbox.mark_again(first, "h", 50.0, "too many")
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 49.0)] == ["2"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.due("p", "bot", 50.0)] == ["0", "2"]
    assert await rows_of(store).outbox.next_due("p", "bot") == 0.0


async def test_a_try_counts_unless_the_row_is_put_back_as_it_was(store):
    await rows_of(store).outbox.send_later(outgoing())
    for surely, tries in ((False, 1), (True, 1), (False, 2)):
        [before] = await rows_of(store).outbox.due("p", "bot", 1.0)
        row = await take(store, before)
        assert (row.state, row.tries, row.sent) == ("sending", before.tries + 1, 1.0)
        await rows_of(store).outbox.mark_again(before if surely else row, "h", 0.0, "why")
        [row] = await rows_of(store).outbox.due("p", "bot", 1.0)
        assert (row.state, row.tries, row.error) == ("waiting", tries, "why")


async def test_pieces_are_kept_with_their_receipts_and_the_last_one_ends_it(store):
    await rows_of(store).outbox.send_later(outgoing(text="onetwo"))
    [row] = await rows_of(store).outbox.due("p", "bot", 1.0)
    pieces = [Message(role="assistant", parts=(Text(text=text),)) for text in ("one", "two")]
    row = await take(store, row, pieces=pieces)
    assert list(row.pieces) == pieces
    assert await rows_of(store).outbox.mark_placeholder(row.id, "h", ["7"])
    assert await rows_of(store).outbox.mark_sent(row, "h", ["7"])
    [row] = await rows_of(store).outbox.due("p", "bot", 1.0)
    assert (row.state, list(row.receipts), list(row.placeholders)) == ("waiting", ["7"], [])
    row = await take(store, row, pieces=row.pieces)
    assert await rows_of(store).outbox.mark_sent(row, "h", ["7", ""])
    [row] = await rows_of(store).outbox.outbox_of(ME, key="k")
    assert (row.state, list(row.receipts)) == ("sent", ["7", ""])
    assert await rows_of(store).outbox.due("p", "bot", 1.0) == []


async def test_the_marks_of_one_who_was_replaced_meet_nothing(store):
    await rows_of(store).outbox.send_later(outgoing())
    [row] = await rows_of(store).outbox.due("p", "bot", 1.0)
    old = await take(store, row, "old")
    assert not await rows_of(store).outbox.mark_sending(row, "late", [row.outgoing.message], repeated=0, now=1.0)
    new = await take(store, old, "new")
    assert not await rows_of(store).outbox.mark_sent(old, "old", ["1"])
    assert not await rows_of(store).outbox.mark_again(old, "old", 0.0, "")
    assert not await rows_of(store).outbox.mark_failed(old, "old", "")
    assert not await rows_of(store).outbox.mark_placeholder(old.id, "old", ["1"])
    assert await rows_of(store).outbox.mark_sent(new, "new", ["2"])


async def test_a_draft_is_not_sent_until_it_is_put_and_keeps_its_place(store):
    row = await rows_of(store).outbox.draft(outgoing("turn", text=""))
    assert row.state == "draft"
    await rows_of(store).outbox.send_later(outgoing("notice"))
    assert await rows_of(store).outbox.mark_draft(row.id, ["11", "12"])
    assert [r.outgoing.key for r in await rows_of(store).outbox.due("p", "bot", 1.0)] == ["notice"]
    again = await rows_of(store).outbox.draft(outgoing("turn", text=""))
    assert (again.id, list(again.placeholders)) == (row.id, ["11", "12"])
    assert await rows_of(store).outbox.send_later(outgoing("turn", text="The end."))
    [row] = await rows_of(store).outbox.due("p", "bot", 1.0)
    assert (row.outgoing.message.parts[0].text, list(row.placeholders)) == ("The end.", ["11", "12"])
    assert await rows_of(store).outbox.mark_draft(row.id, ["11", "12", "13"]), (
        "the last edit may come in after the end of the turn"
    )
    row = await take(store, (await rows_of(store).outbox.due("p", "bot", 1.0))[0])
    assert not await rows_of(store).outbox.mark_draft(row.id, [])
    await rows_of(store).outbox.mark_again(row, "h", 0.0, "")
    assert await rows_of(store).outbox.abandon(row.id)
    assert not await rows_of(store).outbox.send_later(outgoing("turn"))


async def test_a_failure_is_remembered_with_its_chat_until_something_arrives(store):
    async def dead() -> list[str]:
        look = "SELECT dead FROM platform_gateway__chats"
        return [row[0] for row in store.database.transact(lambda tx: tx.connection.execute(look).fetchall())]

    for key in ("0", "1"):
        await rows_of(store).outbox.send_later(outgoing(key))
    row = await take(store, (await rows_of(store).outbox.due("p", "bot", 1.0))[0])
    assert await rows_of(store).outbox.mark_failed(row, "h", "the bot was put out", dead=True)
    assert await dead() == ["the bot was put out"]
    row = await take(store, (await rows_of(store).outbox.due("p", "bot", 1.0))[0])
    await rows_of(store).outbox.mark_sent(row, "h", ["1"])
    assert await dead() == [""]
    assert await rows_of(store).outbox.outbox_counts() == {("p", "bot", "failed"): 1, ("p", "bot", "sent"): 1}


async def test_lists_are_of_one_owner_and_old_rows_go(store):
    await rows_of(store).outbox.send_later(outgoing("0", trace="a"))
    await rows_of(store).outbox.send_later(evolve(outgoing("1", trace="a"), owner=YOU))
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(ME)] == ["0"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(YOU, trace="a")] == ["1"]
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(trace="a")] == ["1", "0"]
    assert await rows_of(store).outbox.outbox_of(Principal(person="nobody")) == []
    [row, _] = await rows_of(store).outbox.outbox_of()
    row = await take(store, row)
    await rows_of(store).outbox.mark_sent(row, "h", [""])
    assert await rows_of(store).outbox.prune_outbox(time.time() - 60) == 0
    assert await rows_of(store).outbox.prune_outbox(time.time() + 60) == 1
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of()] == ["0"]
