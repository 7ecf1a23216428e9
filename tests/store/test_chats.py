"""Chats are remembered per person; one is home on a platform; what is dead lives again when somebody speaks there."""

import pytest
from attrs import evolve

from hermes_core.errors import UnknownName
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.gateway.rows.values import KnownChat, Outgoing
from hermes_core.store.store import Store
from hermes_core.types import Chat, Envelope, Message, Principal, Session, Text

ME, OTHER = Principal(), Principal(person="hana")
HELLO = Message(role="user", parts=(Text(text="hello"),))
HERE = Envelope(
    platform="irc", account="bot", event_id="1", chat="#a", sender="me", message=HELLO, kind="group", chat_name="Work"
)


def key(chat: KnownChat) -> tuple[str, str]:
    return chat.address, chat.account


async def test_where_somebody_spoke_is_remembered_once(store: Store) -> None:
    await rows_of(store).chats.remember_chat(ME, HERE)
    await rows_of(store).chats.remember_chat(ME, evolve(HERE, event_id="2", chat_name=""))
    [chat] = await rows_of(store).chats.list_chats(ME)
    assert (chat.address, chat.account, chat.kind, chat.name, chat.home, chat.dead) == (
        ("irc:#a", "bot", "group", "Work", False, "")
    )
    assert chat.sender == "me"
    assert chat.owner == ME
    assert chat.seen > 0
    await rows_of(store).chats.remember_chat(ME, evolve(HERE, chat_name="Work 2\n\x1b\u202enew"))
    [chat] = await rows_of(store).chats.list_chats(ME)
    assert chat.name == "Work 2 new"


async def test_a_private_chat_is_called_like_who_speaks_there_and_a_group_is_not(store: Store) -> None:
    await rows_of(store).chats.remember_chat(ME, evolve(HERE, kind="dm", chat="7", chat_name="", sender_name="Mia"))
    await rows_of(store).chats.remember_chat(ME, evolve(HERE, chat="8", chat_name="", sender_name="Mia"))
    assert {chat.chat: chat.name for chat in await rows_of(store).chats.list_chats(ME)} == {"7": "Mia", "8": ""}


async def test_each_bot_chat_and_thread_is_one_and_the_last_used_comes_first(store: Store) -> None:
    for change in ({}, {"thread": "5"}, {"account": "bot2"}, {"platform": "matrix", "chat": "!r:example.org"}):
        await rows_of(store).chats.remember_chat(ME, evolve(HERE, **change))
    await rows_of(store).chats.remember_chat(ME, HERE)
    assert [key(c) for c in await rows_of(store).chats.list_chats(ME)] == [
        ("irc:#a", "bot"), ("matrix:!r:example.org", "bot"), ("irc:#a", "bot2"), ("irc:#a:5", "bot"),
    ]  # fmt: skip
    assert [c.chat for c in await rows_of(store).chats.list_chats(ME, platform="matrix")] == ["!r:example.org"]


async def test_nobody_sees_or_changes_the_chats_of_another(store: Store) -> None:
    await rows_of(store).chats.remember_chat(OTHER, HERE)
    [theirs] = await rows_of(store).chats.list_chats(OTHER)
    assert await rows_of(store).chats.list_chats(ME) == []
    with pytest.raises(UnknownName):
        await rows_of(store).chats.set_home(ME, theirs)
    assert not (await rows_of(store).chats.list_chats(OTHER))[0].home
    await rows_of(store).chats.remember_chat(ME, HERE)
    everybody = await rows_of(store).chats.list_chats(None)
    assert [chat.owner for chat in everybody] == [ME, OTHER]


async def test_one_chat_is_home_on_a_platform(store: Store) -> None:
    for change in ({}, {"chat": "#b"}, {"platform": "matrix"}):
        await rows_of(store).chats.remember_chat(ME, evolve(HERE, **change))
    await rows_of(store).chats.remember_chat(OTHER, HERE)
    a, b, m = sorted(await rows_of(store).chats.list_chats(ME), key=key)
    for chat in (a, m, b):
        await rows_of(store).chats.set_home(ME, chat)
    await rows_of(store).chats.remember_chat(ME, HERE)  # what is said later changes nothing of it
    assert {key(c)[0]: c.home for c in await rows_of(store).chats.list_chats(ME)} == {
        "irc:#a": False, "irc:#b": True, "matrix:#a": True,
    }  # fmt: skip
    assert not (await rows_of(store).chats.list_chats(OTHER))[0].home
    with pytest.raises(UnknownName):
        await rows_of(store).chats.set_home(ME, evolve(a, chat="nowhere"))
    assert {key(c)[0] for c in await rows_of(store).chats.list_chats(ME) if c.home} == {"irc:#b", "matrix:#a"}


async def test_a_dead_chat_is_dead_for_all_until_somebody_speaks_there(store: Store) -> None:
    for owner in (ME, OTHER):
        await rows_of(store).chats.remember_chat(owner, HERE)
        await rows_of(store).chats.remember_chat(owner, evolve(HERE, chat="#b"))
    outbox = rows_of(store).outbox
    for owner in (ME, OTHER):
        known = {"platform": "irc", "account": "bot", "chat": Chat("#a"), "message": HELLO}
        await outbox.send_later(Outgoing(key=owner.person, owner=owner, **known))
        [row] = await outbox.outbox_of(owner)
        await outbox.mark_sending(row, "h", [HELLO], repeated=0, now=1.0)
        await outbox.mark_failed(row, "h", "the bot was put out of it", dead=True)
    for owner in (ME, OTHER):
        assert {c.chat: c.dead for c in await rows_of(store).chats.list_chats(owner)} == {
            "#a": "the bot was put out of it",
            "#b": "",
        }
    await rows_of(store).chats.remember_chat(OTHER, HERE)
    assert [c.dead for owner in (ME, OTHER) for c in await rows_of(store).chats.list_chats(owner)] == [""] * 4


async def test_a_session_that_no_chat_asked_in_has_no_origin(store: Store) -> None:
    await store.sessions.create(Session(id="s1", origin="cli"))
    assert await store.inbox.asked_from("s1", ME) is None
    said = evolve(HERE, platform="cli", account="", chat="")
    await store.journal.open_turn("s1", HELLO, turn_id="t1", holder="h", envelope=said, provider="p", model="m")
    assert await store.inbox.asked_from("s1", ME) is None
    with pytest.raises(UnknownName):
        await store.inbox.asked_from("s1", OTHER)


async def test_a_person_whose_name_cannot_be_stored_is_found_by_what_is_left_of_it(store: Store) -> None:
    odd = Principal(person="irc:\0an\udc80n")
    await rows_of(store).chats.remember_chat(odd, HERE)
    [chat] = await rows_of(store).chats.list_chats(odd)
    assert chat.owner.person.startswith("irc:an")
    message = Outgoing(key="k", owner=odd, platform="irc", account="bot", chat=Chat("#a"), message=HELLO)
    assert await rows_of(store).outbox.send_later(message)
    assert [row.outgoing.key for row in await rows_of(store).outbox.outbox_of(odd)] == ["k"]
