"""What plugins order with ``ctx.turns.queue`` is played by the gateway: nobody else would."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from attrs import frozen
from gateway_house import context_of, rows_of
from gateway_phones import OWNER, house, serving

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service, tool
from hermes_core.testing import Bench, Call, FakePlatform
from hermes_core.types import Effect, Envelope, Message, Text, TurnOrder, Verdict
from hermes_platform_gateway.gateway import Gateway


class Order(Service):
    """Orders one turn, and is done."""

    name = "order"

    def __init__(self, ctx):
        self._ctx = ctx

    async def run(self):
        await self._ctx.turns.queue("look", order=TurnOrder(event="today"))


@hookimpl
def register_services(ctx):
    return [Order(ctx)]


async def test_a_queued_turn_is_played_and_answered_nowhere(hermes, scripted):
    hermes.configure({"workers.poll_seconds": 0.05})
    hermes.tmp_plugin(scripted("It rains."))
    declared = {"contributes": {"services": ["order"]}, "permissions": {"kernel": ["turns.run"]}}
    hermes.tmp_plugin(register_services, name="weather", manifest=declared)
    stop, context = asyncio.Event(), context_of(hermes)
    running = asyncio.create_task(Gateway(context, []).run(stop))
    store = await hermes.runtime.store()
    async with asyncio.timeout(20):
        while not (found := await store.sessions.list(hermes.runtime.owner)) or found[0].state != "idle":
            await asyncio.sleep(0.02)
        while len(said := await store.history.load(found[0].session.id)) < 2:
            await asyncio.sleep(0.02)
    stop.set()
    await running
    assert ["".join(p.text for p in m.parts) for m in said] == ["look", "It rains."]
    assert not await rows_of(hermes).outbox.outbox_counts()


@frozen
class Nothing:
    pass


IDLE = 0.8  # longer than an answer from elsewhere takes to be seen


class Chats(FakePlatform):
    """A service with several chats; ``told`` is what each was sent."""

    account = "bot"

    def __init__(self) -> None:
        super().__init__(features=())
        self.told: dict[str, list[str]] = {}

    def write(self, chat: str, text: str, sender: str = "anna") -> None:
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": self.name, "account": "bot", "chat": chat, "sender": sender}
        self.service.bring(Envelope(**known, event_id=f"{chat} {text}", message=message))

    async def send(self, chat, message, key):
        self.told.setdefault(chat.id, []).append(message.parts[0].text)
        return await super().send(chat, message, key)

    async def until(self, chat: str, *starts: str) -> str:
        """Wait until a chat was sent what begins so, and nothing else; the last of it."""
        async with asyncio.timeout(20):
            while len(self.told.get(chat, ())) < len(starts):
                await asyncio.sleep(0.01)
        told = self.told[chat]
        assert len(told) == len(starts)
        assert all(map(str.startswith, told, starts)), told
        return told[-1]


@hookimpl
async def on_session_start(ctx, session) -> None:
    """It has hooks, and so a context."""


class Asking:
    """A gateway with two chats of one person, and the turns of a plugin; a tool of those turns needs a yes."""

    def __init__(self, hermes, provider) -> None:
        @tool(effects={Effect.SEND})
        async def post(_: Nothing) -> str:
            """Post it."""
            self.posted += 1
            return "posted"

        manifest = {"permissions": {"kernel": ["turns.run"]}}
        self.provider = provider
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin(post)
        label = hermes.tmp_plugin(on_session_start, name="weather", manifest=manifest)
        self.hermes, self.chats, self.posted = hermes, Chats(), 0
        self.context, self.owner = context_of(hermes), hermes.runtime.owner
        self.turns = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns

    @asynccontextmanager
    async def serving(self, owner=None):
        """Serve, with both chats known, and a turn ordered that has asked ``there``."""
        stop, chats = asyncio.Event(), self.chats
        running = asyncio.create_task(Gateway(self.context, [chats]).run(stop))
        try:
            chats.write("here", "hello")
            await chats.until("here", "Hi.")
            chats.write("there", "hello")
            await chats.until("there", "Hi again.")
            order = TurnOrder(session="job", ask="fake:there", deliver="fake:here", hidden=True)
            await self.turns.queue("Post it.", order=order, owner=owner)
            yield await chats.until("there", "Hi again.", "**May I do this?**")
        finally:
            stop.set()
            await running

    async def question(self):
        """The row of the question that is open."""
        [row] = await (await self.hermes.runtime.store()).approvals.list(self.owner)
        return row


@pytest.fixture
def asking(hermes, scripted):
    """One in which every deadline is shorter than the person is away."""
    provider = scripted("Hi.", "Hi again.", [Call("post")], "It is posted.")
    return Asking(configured(hermes), provider)


def configured(hermes):
    short = {"gateway.idle_seconds": IDLE, "policy.ask_seconds": 0.05, "workers.poll_seconds": 0.05}
    people = {"gateway.people": {"owner": ["fake:anna"]}, "gateway.allow_all_users": True}
    hermes.configure({**people, "gateway.drain_seconds": 0.1, **short})
    return hermes


@pytest.mark.parametrize("how", ["in the chat", "in another chat", "elsewhere"])
async def test_a_question_waits_in_the_chat_that_the_order_names_for_as_long_as_it_takes(asking, how):
    chats = asking.chats
    async with asking.serving() as question:
        if how == "in the chat":
            await asyncio.sleep(2.5 * IDLE)  # there is nothing to wait for: nothing happens
        row = await asking.question()
        assert f"/approve {row.id}" in question
        if how == "elsewhere":
            store = await asking.hermes.runtime.store()
            await store.approvals.settle(asking.owner, row.id, Verdict(outcome="allow", by="elsewhere"))
        else:
            chats.write("there" if how == "in the chat" else "here", f"/approve {row.id}")
        told = ["Hi.", "Allowed (once)."] if how == "in another chat" else ["Hi."]
        await chats.until("here", *told, "It is posted.")
        assert asking.posted == 1
        rows = await (await asking.hermes.runtime.store()).sessions.list(asking.owner)
        assert "job" not in {row.session.id for row in rows}


async def test_a_no_of_the_chat_is_a_no(asking):
    async with asking.serving():
        asking.chats.write("there", "/deny")
        await asking.chats.until("here", "Hi.", "It is posted.")  # as its model says, which cannot know
        assert asking.posted == 0


async def test_nobody_else_answers_it(asking):
    async with asking.serving():
        row = await asking.question()
        asking.chats.write("elsewhere", f"/approve {row.id}", sender="mallory")
        await asking.chats.until("elsewhere", "There is no approval")
        assert (await asking.question()).state == "open"
        asking.chats.write("there", "/approve")
        await asking.chats.until("here", "Hi.", "It is posted.")


async def test_a_stop_of_the_gateway_leaves_it_to_the_next_start(asking, tmp_path):
    async with asking.serving():
        row = await asking.question()
    assert (await asking.question()).id == row.id
    hermes = Bench(tmp_path / "home")
    hermes.tmp_plugin("hermes_tool_commands")
    again, stop = Asking(configured(hermes), asking.provider), asyncio.Event()
    running = asyncio.create_task(Gateway(again.context, [again.chats]).run(stop))
    again.chats.write("there", f"/approve {row.id}")
    await again.chats.until("here", "It is posted.")
    stop.set()
    await running
    assert (asking.posted, again.posted) == (0, 1)
    assert again.chats.told["there"] == ["Allowed (once)."], "it was not put again"
    await hermes.close()


async def test_a_process_that_ends_is_told_of_in_its_chat(hermes, scripted):
    house(hermes)
    hermes.tmp_plugin("hermes_tool_terminal")
    hermes.tmp_plugin("hermes_backend_local")
    walls = {"terminal.backend": "local", "backends.local.wall": "none", "terminal.cwd": str(hermes.workspace.folder)}
    hermes.configure({"workers.poll_seconds": 0.2, "policy.mode": "off", **walls})
    call = Call("terminal", {"command": "sleep 2; exit 3", "background": "yes"})
    provider = scripted(call, "It is begun.", "It failed.")
    hermes.tmp_plugin(provider)
    async with serving(hermes) as phones:
        phones.write(OWNER, "Build it!")
        await phones.last(OWNER, "It is begun.")
        await phones.last(OWNER, "It failed.")
    said = "".join(part.text for part in provider.requests[-1].messages[-1].parts)
    assert "p1 has ended with exit 3" in said
