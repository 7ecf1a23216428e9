"""What is sent on one's own: to which chats, once, with the conversation there knowing of it; and moving one there."""

from pathlib import Path
from typing import Any

import pytest
from gateway_house import context_of, rows_of

from hermes_core.brokers import Mailbox, MessagesBroker
from hermes_core.errors import AuthError, UnknownName, UserError
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import Manifest
from hermes_core.store.store import Store
from hermes_core.testing import Bench, Fail, MailboxContract, ScriptedProvider
from hermes_core.types import Blob, Envelope, Message, Principal, Session, Text, TurnOrder
from hermes_platform_gateway.conversations import Conversations
from hermes_platform_gateway.messages import Messages
from hermes_platform_gateway.people.access import Access

ME, HANA = Principal(), Principal(person="hana")


def said(text: str, **more: Any) -> Message:
    return Message(role="assistant", parts=(Text(text=text),), **more)


def heard(chat: str, text: str = "hi", *, event: str = "", sender: str = "1", **more: Any) -> Envelope:
    message = Message(role="user", parts=(Text(text=text),))
    return Envelope(
        platform="telegram", account="bot", event_id=event or f"{chat}:{text}", chat=chat, sender=sender,
        message=message, **more,
    )  # fmt: skip


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


class House:
    """A kernel whose person wrote in some chats."""

    def __init__(self, bench: Bench, store: Store, provider: ScriptedProvider) -> None:
        self.bench, self.store, self.provider = bench, store, provider
        self.messages = Messages(context_of(bench))
        self.conversations = Conversations(context_of(bench))

    async def hears(self, envelope: Envelope, owner: Principal = ME) -> Session:
        """A message that comes in, has its turn and is answered; its session."""
        conversation = await self.conversations.find(envelope, Access(outcome="in", principal=owner))
        await rows_of(self.store).chats.remember_chat(conversation.owner, envelope, owner)
        session = await conversation.take_up()
        self.provider.add("An answer.")
        await self.bench.runtime.turns.queue(session.id, envelope.message, owner=session.owner, envelope=envelope)
        async for _ in self.bench.runtime.turns.follow(session.id, owner=session.owner):
            pass
        return await self.store.sessions.get(session.id, session.owner)

    async def history(self, session: Session) -> list[tuple[str, str]]:
        return [(m.role, text_of(m)) for m in await self.store.history.load(session.id)]

    async def outbox(self) -> list[tuple[str, str, str]]:
        rows = await rows_of(self.store).outbox.outbox_of(None)
        return [(r.outgoing.chat.id, r.outgoing.owner.person, text_of(r.outgoing.message)) for r in reversed(rows)]


@pytest.fixture
async def house(hermes: Bench, scripted: Any, request: pytest.FixtureRequest) -> House:
    provider = scripted()
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_redaction")
    hermes.configure({"gateway.reset.mode": getattr(request, "param", "none")})
    return House(hermes, await hermes.runtime.store(), provider)


async def test_a_message_waits_in_the_outbox_and_the_chat_knows_of_it(house: House) -> None:
    there = await house.hears(heard("42", sender_name="Mia"))
    here = await house.hears(heard("7"))
    [target] = await house.messages.send(ME, "mia", said("Dinner at 8."), here)
    assert (target.address, target.name, target.served) == ("telegram:42", "Mia", False)
    assert await house.outbox() == [("42", "owner", "Dinner at 8.")]
    last = (await house.history(there))[-1]
    assert last[0] == "assistant"
    assert last[1].endswith(f"(Written in {here.id}, and sent to this chat:)\nDinner at 8.")
    assert "Dinner" not in str(await house.history(here))
    await house.hears(heard("42", "Which time?", sender_name="Mia"))
    assert "Dinner at 8." in str(house.provider.requests[-1].messages)


async def test_what_is_sent_to_the_chat_that_asks_is_told_nobody_twice(house: House) -> None:
    here = await house.hears(heard("42"))
    before = await house.history(here)
    [target] = await house.messages.send(ME, "origin", said("Look!"), here)
    await house.messages.send(ME, "telegram:42", said("Look again!"), here)
    assert target.address == "telegram:42"
    assert await house.history(here) == before
    assert [text for *_, text in await house.outbox()] == ["Look!", "Look again!"]


async def test_one_key_is_one_message(house: House) -> None:
    here, there = await house.hears(heard("7")), await house.hears(heard("42"))
    for text in ("Once.", "Once."):
        await house.messages.send(ME, "telegram:42", said(text), here, key="call-1")
    await house.messages.send(ME, "telegram:7", said("Once."), here, key="call-1")
    assert [(chat, text) for chat, _, text in await house.outbox()] == [("42", "Once."), ("7", "Once.")]
    assert str(await house.history(there)).count("Once.") == 1


async def test_while_a_turn_runs_there_its_history_is_not_cut_in_two(house: House) -> None:
    there, here = await house.hears(heard("42")), await house.hears(heard("7"))
    question = Message(role="user", parts=(Text(text="Work!"),))
    turn = await house.store.journal.open_turn(there.id, question, turn_id="t", holder="h", provider="p", model="m")
    await house.messages.send(ME, "telegram:42", said("Meanwhile."), here)
    assert "Meanwhile." not in str(await house.history(there))
    await house.store.journal.close_turn(turn, state="done")
    assert (await house.history(there))[-1][1].endswith("Meanwhile.")
    await house.store.journal.close_turn(
        await house.store.journal.open_turn(there.id, question, turn_id="t2", holder="h", provider="p", model="m"),
        state="done",
    )
    assert str(await house.history(there)).count("Meanwhile.") == 1


async def test_a_turn_that_was_cut_off_loses_nothing_of_it(house: House) -> None:
    there, here = await house.hears(heard("42")), await house.hears(heard("7"))
    question = Message(role="user", parts=(Text(text="Work!"),))
    await house.store.journal.open_turn(there.id, question, turn_id="t", holder="h", provider="p", model="m")
    await house.messages.send(ME, "telegram:42", said("Meanwhile."), here)
    await house.bench.runtime.sessions.close()
    database = house.store.database
    database.connection.execute("UPDATE leases SET pid = 0, beat = -1e9")
    await house.hears(heard("42", "and now?"))
    assert str(await house.history(there)).count("Meanwhile.") == 1


async def test_what_comes_from_outside_stays_known_as_that(house: House) -> None:
    there, here = await house.hears(heard("42")), await house.hears(heard("7"))
    tainted = Session(id=here.id, origin="telegram", untrusted=True)
    await house.messages.send(ME, "telegram:42", said("A page says so."), tainted)
    assert any(m.untrusted for m in await house.store.history.load(there.id))


async def test_files_are_named_and_secrets_are_masked(house: House) -> None:
    there, here = await house.hears(heard("42")), await house.hears(heard("7"))
    key = "sk-ant-api03-" + "a1B2" * 22
    message = Message(
        role="assistant", parts=(Text(text=f"The key is {key}"), Blob(media_type="image/png", data=b"x", name="a.png"))
    )
    await house.messages.send(ME, "telegram:42", message, here)
    assert key not in str(await house.outbox()) + str(await house.history(there))
    assert "[file: a.png]" in str(await house.history(there))
    [row] = await rows_of(house.store).outbox.outbox_of(ME)
    assert row.outgoing.message.parts[1] == Blob(media_type="image/png", data=b"x", name="a.png")


async def test_nobody_sends_to_the_chats_of_another(house: House) -> None:
    await house.hears(heard("42", sender="2", sender_name="Hana"), HANA)
    here = await house.hears(heard("7"))
    for target in ("telegram:42", "Hana", "42"):
        with pytest.raises(UnknownName):
            await house.messages.send(ME, target, said("Boo."), here)
    assert [t.address for t in await house.messages.targets(ME)] == ["telegram:7"]
    assert [t.address for t in await house.messages.targets(HANA)] == ["telegram:42"]
    assert await house.outbox() == []


@pytest.mark.parametrize("house", ["idle"], indirect=True)
async def test_an_old_conversation_is_not_woken_but_a_new_one_begun(house: House) -> None:
    there, here = await house.hears(heard("42")), await house.hears(heard("7"))
    connection = house.store.database.connection
    connection.execute("UPDATE platform_gateway__routes SET used = used - 1e6 WHERE session_id = ?", (there.id,))
    await house.messages.send(ME, "telegram:42", said("Good morning."), here)
    assert "Good morning." not in str(await house.history(there))
    new = await house.hears(heard("42", "Morning!"))
    assert new.id != there.id
    assert "Good morning." in str(house.provider.requests[-1].messages)


async def test_a_terminal_reaches_the_chats_of_its_person(house: House) -> None:
    await house.hears(heard("42"))
    fresh = Session(id="20260101_000000_abcdef", origin="cli")
    assert [t.address for t in await house.messages.send(ME, "telegram", said("Hi."), fresh)] == ["telegram:42"]
    assert await house.messages.send(ME, "local", said("Hi."), fresh) == []
    assert await house.messages.send(ME, "origin", said("Hi."), fresh) == []
    assert len(await house.outbox()) == 1


async def test_a_gateway_that_is_connected_is_known(house: House) -> None:
    await house.hears(heard("42"))
    lease = await rows_of(house.store).accounts.lease("telegram", "bot")
    assert lease
    await rows_of(house.store).accounts.renew(lease, "connecting")
    assert not (await house.messages.targets(ME))[0].served
    await rows_of(house.store).accounts.renew(lease, "connected")
    assert (await house.messages.targets(ME))[0].served


async def test_the_end_of_a_turn_that_a_plugin_ordered_is_sent_with_the_commit_that_ends_it(house: House) -> None:
    await house.hears(heard("42", sender_name="Mia"))
    await house.hears(heard("7"))
    runtime = house.bench.runtime
    may = Manifest(
        {"api": 1, "name": "nightly", "kind": "tool", "summary": "Looks.", "permissions": {"kernel": ["turns.run"]}}
    )
    nightly = Installed(label="tool/nightly", manifest=may, module="nightly", path="")
    turns = runtime.plugin_context(nightly).turns
    house.provider.add("All is quiet.")
    ended = [event async for event in turns.run("How are things?", order=TurnOrder(deliver="mia", event="7 o'clock"))]
    assert await house.outbox() == [("42", "owner", "All is quiet.")]
    assert [event async for event in turns.run("How?", order=TurnOrder(deliver="mia", event="7 o'clock"))] == []
    assert len(await house.outbox()) == 1
    [row] = await rows_of(house.store).outbox.outbox_of(None)
    assert (row.outgoing.turn_id, row.outgoing.kind) == (ended[-1].turn_id, "answer")
    house.provider.add(Fail(AuthError("the key is wrong")))
    assert [event async for event in turns.run("Again?", order=TurnOrder(deliver="telegram:7"))]
    [(chat, _, text), _] = (await house.outbox())[::-1]
    assert (chat, "key is wrong" in text) == ("7", True)


# --- who sends


class TestTheGatewaysOwn(MailboxContract):
    @pytest.fixture
    async def mailbox(self, house: House) -> Mailbox:
        await house.hears(heard("42"))
        self.house = house
        return house.messages

    async def waiting(self, mailbox: Mailbox) -> int:
        return len(await self.house.outbox())


class Pigeons(Messages):
    """A mailbox of a plugin."""

    def __init__(self, name: str) -> None:
        self.name = name


def allowed(bench: Bench) -> MessagesBroker:
    """What a plugin has that may send."""
    may = {"permissions": {"kernel": ["messages.send"]}}
    manifest = Manifest({"api": 1, "name": "nightly", "kind": "tool", "summary": "Looks.", **may})
    made = Installed(label="tool/nightly", manifest=manifest, module="nightly", path="")
    return bench.runtime.plugin_context(made).messages


async def test_a_plugin_sends_in_place_of_the_gateway(tmp_path: Path) -> None:
    hermes = Bench(tmp_path / "home")
    hermes.tmp_plugin(Pigeons("pigeons"))
    async with hermes:
        assert hermes.runtime.mailbox().name == "pigeons"


async def test_two_who_would_send_are_refused(hermes: Bench) -> None:
    hermes.tmp_plugin(Pigeons("other"), name="other")
    with pytest.raises(UserError, match="platform/gateway and platform/other would both send"):
        await allowed(hermes).targets(ME)


async def test_without_a_gateway_it_is_said(tmp_path: Path) -> None:
    async with Bench(tmp_path / "home") as hermes:
        with pytest.raises(UserError, match="no gateway is installed"):
            await allowed(hermes).targets(ME)
