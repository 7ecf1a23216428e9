"""Moving a conversation into a chat, and saying which chat is home: in a terminal and in a chat."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from gateway_house import context_of, rows_of

from hermes_core.slash import usable
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import Buttons, Envelope, Feature, Message, Principal, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.messages import Messages

ME = Principal()
PEOPLE = {"gateway.people": {"owner": ["chat:me"]}, "gateway.allow_all_users": True}


class Chats(FakePlatform):
    """A chat service where several people write."""

    def __init__(self) -> None:
        super().__init__(name="chat", features=())
        self.account, self.number = "bot", 0

    def write(self, text: str, *, chat: str = "c1", sender: str = "me", **more: str) -> None:
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        self.service.bring(
            Envelope(platform="chat", account="bot", event_id=str(self.number), chat=chat, sender=sender,
                     message=message, **more)  # type: ignore[arg-type]
        )  # fmt: skip

    async def until(self, count: int) -> Sequence[str]:
        async with asyncio.timeout(20):
            while len(found := await self.service.seen()) < count:
                await asyncio.sleep(0.01)
        return found


class Terminal(FakePlatform):
    """A person at a keyboard, who waits for each answer."""

    def __init__(self) -> None:
        super().__init__(name="terminal", features=())

    async def types(self, hermes: Bench, *lines: str) -> Sequence[str]:
        """Type lines; what is seen in the end."""
        task = asyncio.create_task(hermes.serve(self))
        for number, line in enumerate(lines, len(await self.service.seen()) + 1):
            await self.service.say(line)
            async with asyncio.timeout(20):
                while len(await self.service.seen()) < number:
                    await asyncio.sleep(0.01)
        await self.service.leave()
        await task
        return await self.service.seen()


@asynccontextmanager
async def serving(hermes: Bench, chats: Chats) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(Gateway(context_of(hermes), [chats]).run(stop))
    try:
        yield
    finally:
        stop.set()
        await task


@pytest.fixture
def chats(hermes: Bench) -> Chats:
    hermes.configure(PEOPLE)
    return Chats()


async def test_a_conversation_moves_from_the_terminal_into_a_chat(hermes, scripted, chats) -> None:
    provider = scripted("Hello in the chat.", "The plan is X.", "Fresh.", "As planned: X.")
    hermes.tmp_plugin(provider)
    terminal = Terminal()
    async with serving(hermes, chats):
        chats.write("Hi.", sender_name="Mia")
        await chats.until(1)
        seen = await terminal.types(hermes, "Make a plan.", "/handoff chat", "What now?")
        assert "Mia (chat:c1) goes on with" in seen[1]
        assert "Here a new session begins" in seen[1]
        told = (await chats.until(2))[1]
        assert "goes on here." in told
        assert "The plan is X." in told
        chats.write("Go on.")
        assert (await chats.until(3))[2] == "As planned: X."
    assert "Make a plan." in str(provider.requests[-1].messages)
    assert "Make a plan." not in str(provider.requests[2].messages)  # the terminal has a new one


async def test_a_conversation_moves_from_one_chat_to_another(hermes, scripted, chats) -> None:
    provider = scripted("One.", "Two.", "Again one.")
    hermes.tmp_plugin(provider)
    async with serving(hermes, chats):
        chats.write("First.", chat="c1")
        await chats.until(1)
        chats.write("Second.", chat="c2")
        await chats.until(2)
        chats.write("/handoff chat:c2", chat="c1")
        chats.write("/handoff chat:c2", chat="c2")
        seen = await chats.until(5)
        assert any("is in that chat already" in text for text in seen)
        chats.write("And?", chat="c2")
        await chats.until(6)
    assert "First." in str(provider.requests[-1].messages)
    assert "Second." not in str(provider.requests[-1].messages)


async def test_nothing_moves_into_the_chat_of_another_or_into_one_that_others_share(hermes, scripted, chats) -> None:
    hermes.tmp_plugin(scripted("Hello Hana.", "Hello all.", "Mine."))
    terminal = Terminal()
    async with serving(hermes, chats):
        chats.write("Hi.", chat="c7", sender="hana", sender_name="Hana")
        await chats.until(1)
        chats.write("Hi.", chat="g", thread="t", kind="group", chat_name="Team")
        assert "share one conversation" in (await chats.until(3))[1]
        seen = await terminal.types(
            hermes, "Private.", "/handoff chat:c7", "/handoff Hana", "/handoff Team", "/handoff", "/handoff all"
        )
        assert "There is no target named 'chat:c7'" in seen[1]
        assert "There is no target named 'Hana'" in seen[2]
        assert "a chat that others share" in seen[3]
        assert "Say where to" in seen[4]
        assert "no home chat" in seen[5]
        assert len(await chats.service.seen()) == 3
    store = await hermes.runtime.store()
    assert not [row for row in await rows_of(store).outbox.outbox_of(None) if "Private" in str(row.outgoing.message)]


async def test_home_is_said_in_the_chat_or_from_elsewhere(hermes, scripted, chats) -> None:
    hermes.tmp_plugin(scripted("a", "b"))
    terminal = Terminal()
    async with serving(hermes, chats):
        chats.write("Hi.", chat="c1")
        await chats.until(1)
        chats.write("Hi.", chat="c2", chat_name="Second")
        await chats.until(2)
        chats.write("/sethome", chat="c2", chat_name="Second")
        assert (await chats.until(3))[2] == "Second (chat:c2) is home on chat from now on."
        store = await hermes.runtime.store()
        assert [c.chat for c in await rows_of(store).chats.list_chats(ME) if c.home] == ["c2"]
        seen = await terminal.types(hermes, "/sethome", "/sethome chat:c1", "/platforms")
    assert "Say which chat" in seen[0]
    assert "chat:c1 is home" in seen[1]
    assert [c.chat for c in await rows_of(store).chats.list_chats(ME) if c.home] == ["c1"]
    assert "chat bot: connected" in seen[2]


async def test_platforms_says_when_nothing_is_served(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    seen = await Terminal().types(hermes, "/platforms")
    assert "No platform was served yet" in seen[0]


async def test_what_is_sent_from_elsewhere_arrives_and_is_known_there(hermes, scripted, chats) -> None:
    provider = scripted("Hello.", "At eight.")
    hermes.tmp_plugin(provider)
    async with serving(hermes, chats):
        chats.write("Hi.", sender_name="Mia")
        await chats.until(1)
        dinner = Message(role="assistant", parts=(Text(text="Dinner at 8."),))
        [target] = await Messages(context_of(hermes)).send(ME, "chat", dinner)
        assert target.served
        assert (await chats.until(2))[1] == "Dinner at 8."
        chats.write("When again?")
        assert (await chats.until(3))[2] == "At eight."
    assert "Dinner at 8." in str(provider.requests[-1].messages)


def pressable(chats: Chats) -> list[str]:
    """What the buttons below the last message that has some say."""
    shown = [[p for p in m.parts if isinstance(p, Buttons)] for m in chats.outbox.values()]
    return [button.says for part in [one for one in shown if one][-1] for button in part.buttons]


async def test_a_chat_asks_with_buttons_and_a_press_is_the_answer(hermes, scripted, chats) -> None:
    provider = scripted("One.", "Two.", "Three.")
    hermes.tmp_plugin(provider)
    chats.features |= {Feature.BUTTONS}
    async with serving(hermes, chats):
        for number, text in enumerate(("First.", "Second.", "/undo"), 1):
            chats.write(text)
            await chats.until(number)
        says = pressable(chats)
        assert len({one.rpartition(" ")[0] for one in says}) == 1
        chats.write(says[2])
        assert (await chats.until(4))[3] == "Nothing was done."
        chats.write(says[0])  # it died with its answer
        assert (await chats.until(5))[4] == "That was answered before."
        chats.write("/undo")
        await chats.until(6)
        says = pressable(chats)
        chats.write(says[0], chat="c2")
        assert (await chats.until(7))[6] == "There is no such question any more."
        chats.write(says[0])
        assert "Taken back: the last exchange, from 'Second.' on" in (await chats.until(8))[7]
        chats.write("Third.")
        await chats.until(9)
    said = [p.text for m in provider.requests[-1].messages if m.role == "user" for p in m.parts]
    assert said == ["First.", "Third."]


async def test_only_an_admin_changes_what_holds_for_everybody(hermes, scripted, chats) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    chats.features |= {Feature.BUTTONS}
    async with serving(hermes, chats):
        lines = (
            "Hi.",
            "/undo",
            "/undo --always",
            "/config agent.busy steer",
            "/tools disable x",
            "/model scripted-1 --global",
        )
        for number, text in enumerate(lines, 1):
            chats.write(text, chat="c9", sender="hana")
            seen = await chats.until(number)
        assert len(pressable(chats)) == 2  # a yes and a no, and nothing for good
        assert "only an admin" in seen[2]
        assert "There is no command /config" in seen[3]
        assert "no tool named" in seen[4].lower()
        assert "only an admin" in seen[5]
    assert not hermes.runtime.home.config_file.exists()


async def test_a_chat_knows_other_names_and_explains_commands(hermes, scripted, chats) -> None:
    hermes.tmp_plugin(scripted())
    async with serving(hermes, chats):
        lines = ("/start", "/help effort", "/commands", "/commands 2", "/COST", "/v", "/quit", "/effort high")
        for number, text in enumerate(lines, 1):
            chats.write(text)
            seen = await chats.until(number)
        assert any(line.startswith("/help [COMMAND] – ") for line in seen[0].splitlines())
        assert seen[1].startswith("/reasoning ")
        assert "/commands 2 shows the next" in seen[2]
        assert seen[3] not in seen[2]
        assert seen[4] == "Nothing used yet."
        assert seen[5].startswith("hermes ")
        assert "There is no command /quit" in seen[6]
        assert seen[7] == "Effort in this chat: high."
        names = {name for one in chats.console.commands for name in (one.name,)}
        assert {"undo", "background", "approve"} <= names
        assert not {"quit", "save", "bg", "busy"} & names


def test_only_an_admin_is_told_of_what_is_served_and_lets_people_in(hermes: Bench) -> None:
    table = context_of(hermes).slash.commands("chat").table
    admins = usable(table, "admin", "chat").keys() - usable(table, "user", "chat").keys()
    assert {"pair", "platforms"} <= admins
    assert {"approve", "deny", "handoff", "sethome"} <= usable(table, "user", "chat").keys()
    assert "pair" not in usable(table, "admin", "terminal")
