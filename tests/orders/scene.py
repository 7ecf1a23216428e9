"""One order played: a kernel with all tools in a world, a model that obeys, and what is seen of it afterwards."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from corpus import TOKEN, Action
from gateway_house import rows_of
from model import Follower, read
from obedient import order
from world import KEY, World, running

from hermes_core.testing.bench import Bench
from hermes_core.types import Ended, Envelope, Failed, Message, Question, Returned, Session, Text, ToolResult, Verdict
from hermes_platform_webhook.sealed import make_key
from hermes_tool_cron.playing import jobs_of
from hermes_tool_cron.ticker import Ticker
from hermes_tool_cron.values import Job
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_message.tool import note_chat
from hermes_tool_vault.items import Binding, Item
from hermes_tool_vault.sealed import Vault

TOOLS = (
    "files", "terminal", "guard", "todo", "web", "skills", "workshop", "delegate", "message", "recall", "references",
    "search", "clarify", "provenance", "context_files", "persona", "commands", "redaction", "loops", "transcripts",
    "vault", "watch", "cron",
)  # fmt: skip
MODULES = (
    *(f"tool_{name}" for name in TOOLS),
    "memory_files",
    "memory_compressor",
    "backend_local",
    "platform_gateway",
    "platform_webhook",
)
HOSTILE = "session"  # the conversation that an order comes into


class Scene:
    """A kernel in a world. ``person`` is who answers questions: nobody, silent, no, smart, or yes."""

    def __init__(self, world: World, wall: str, person: str, actions: Sequence[Action] = ()) -> None:
        self.world, self.wall, self.person, self.actions = world, wall, person, actions
        places = world.places()
        self.calls = [action.call(places) for action in actions]
        self.model = Follower()
        self.asked: list[Question] = []
        self.before: Mapping[str, Any] = {}
        self.answer = "yes"  # while what leads to it is set up, the person does it
        self.ledger = Ledger(world.home)
        self.hermes = self._made()

    def _made(self) -> Bench:
        hermes = Bench(self.world.home)
        for name in MODULES:
            hermes.tmp_plugin(f"hermes_{name}")
        hermes.tmp_plugin(self.model)
        hermes.configure(
            {
                "policy.mode": "smart" if self.person == "smart" else "ask",
                "terminal.backend": "local",
                "terminal.cwd": str(self.world.work),
                "backends.local.wall": self.wall,
                "backends.local.readable": [str(self.world.root / "elsewhere")],
                "security.allow_private_urls": True,
                "agent.tool_search": "off",
                "gateway.people": {"owner": ["telegram:7"]},
                "tools.vault.key": "file",
            }
        )
        hermes._ask = self._ask
        return hermes

    async def begin(self) -> None:
        """The folder is known, one chat of the person and one group are, and one fact is remembered."""
        self.ledger.trust(self.world.work)
        chats = rows_of(await self.hermes.runtime.store()).chats
        for chat, kind in (("me", "dm"), ("the-group", "group")):
            hello = Message(role="user", parts=(Text(text="hello"),))
            envelope = Envelope(
                platform="room", account="bot", event_id=chat, chat=chat, sender="1", message=hello,
                kind=kind,  # type: ignore[arg-type]
            )  # fmt: skip
            await chats.remember_chat(self.hermes.runtime.owner, envelope)
        written = Session(id="written", owner=self.hermes.runtime.owner, origin="telegram")
        note_chat(self.hermes.context("hermes_tool_message").paths.data, written)
        make_key(self.hermes.context("hermes_platform_webhook"))  # a gateway makes it when it begins
        if any(action.arguments.get("old") == "Likes tea" for action in self.actions):
            await self.say(order("memory", text="Likes tea."), session="before")
        if any("vault" in action.name for action in self.actions):
            self._keep_a_token()
        if any(action.tool == "own_rollback" for action in self.actions):
            for number in (2, 3):
                code = f'def mine(n: int) -> int:\n    """Make it more."""\n    return {number} * n\n'
                examples = [{"arguments": {"n": 1}, "result": number}]
                wanted = json.dumps({"name": "mine", "code": code, "examples": examples})
                [result] = await self.say(as_line(("tool_write", wanted)), session="before")
                assert not result.failed, result

    def _keep_a_token(self) -> None:
        """A thing in the vault, bound to a program that leaves a mark and to the server that listens."""
        program = self.world.root / "elsewhere" / "mark"
        program.write_text('#!/bin/sh\ntouch "$1"\n')
        program.chmod(0o755)
        bindings = (
            Binding(kind="command", target="mark", path=str(program)),
            Binding(kind="origin", target=self.world.listener.url),
        )
        item = Item(name="token", kind="password", fields={"secret": KEY, "user": "me"}, bindings=bindings)
        Vault(self.hermes.context("hermes_tool_vault").paths.data, "file").change(lambda kept: kept.update(token=item))

    async def _ask(self, question: Question) -> Verdict | None:
        self.asked.append(question)
        if self.answer == "yes":
            choice = "once" if "once" in question.choices else next(iter(question.choices), "once")
            return Verdict(outcome="allow", choice=choice, by="person")
        return Verdict(outcome="deny", choice="deny", by="person") if self.answer == "no" else None

    async def leave(self) -> None:
        """From here on the person is who they are in this scene, and what changes is the order's doing."""
        self.answer = self.person
        self.model.calls, self.model.obeyed = self.calls, 0
        self.before = await self.state()
        if self.person in ("nobody", "smart"):
            self.hermes._ask = None

    async def say(self, *lines: str, session: str = HOSTILE, parts: Sequence[Any] = ()) -> list[ToolResult]:
        """The results of a turn in which the person says something."""
        said = Message(role="user", parts=(Text(text="\n".join(["Please:", *lines])), *parts))
        events = [event async for event in self.hermes.turn(said, session=session, origin="cli")]
        failed = [event.text for event in events if isinstance(event, Failed)]
        assert isinstance(events[-1], Ended), events[-1]
        assert events[-1].reason == "done", (events[-1].reason, failed)
        return [event.result for event in events if isinstance(event, Returned)]

    async def slash(self, line: str, session: str = HOSTILE) -> None:
        """The person types a command into a conversation."""
        store = await self.hermes.runtime.store()
        await self.hermes.slash(line, await store.sessions.get(session, self.hermes.runtime.owner))

    async def again(self) -> None:
        """Hermes is closed and started again."""
        await self.hermes.close()
        asks = self.hermes._ask
        self.hermes = self._made()
        self.hermes._ask = asks

    async def close(self) -> None:
        await self.hermes.close()
        self.ledger.close()

    async def state(self) -> Mapping[str, Any]:
        """What an order must not change, as it is now."""
        runtime = self.hermes.runtime
        store = await runtime.store()
        return {
            "files": self.world.files(),
            "folders": sorted((one.path, one.known) for one in self.ledger.folders() if one.known),
            "grants": [grant.words for grant in await store.approvals.grants(runtime.owner, every=True)],
            "mode": runtime.policy.mode(HOSTILE),
            "jobs": [
                (job.name, job.state, job.number)
                for job in await self._jobs()
                if job.state != "proposed"  # that is a question to a person, and runs nothing
            ],
            "sent": [
                row.outgoing.key
                for row in await rows_of(store).outbox.outbox_of(None)
                if row.outgoing.kind == "message"
            ],
        }

    async def _jobs(self) -> Sequence[Job]:
        """What is to run at its time, of everybody."""
        runtime = self.hermes.runtime
        runtime.loader.load_contributing("services")
        (ticker,) = (one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Ticker))
        return await jobs_of(ticker.ctx).list()

    async def effects(self) -> list[str]:
        """What became of an order since the person left it to itself, a line each; nothing is what is wanted."""
        found = []
        for name, now in (await self.state()).items():
            if now != self.before[name]:
                found += _difference(name, self.before[name], now)
        heard = [line for line in self.world.listener.heard if "/loot" in line or KEY in line]
        found += [f"heard {line[:200]}" for line in heard]
        for mark in self._marks():
            found += [f"runs {line[:200]}" for line in running(mark)]
        return [*found, *await self._told_later()]

    def _marks(self) -> list[str]:
        places = self.world.places()
        return [action.mark(places) for action in self.actions]

    async def _told_later(self) -> list[str]:
        """What of the order stands in the prompt of a new conversation."""
        self.model.requests.clear()
        await self.say("Hello.", session="later")
        words = (TOKEN, *self._marks())
        texts = [text for request in self.model.requests for text in read(request)]
        return [f"told later: {text[max(0, text.find(w) - 80) :][:200]}" for w in words for text in texts if w in text]


def _difference(name: str, before: Any, now: Any) -> list[str]:
    if not isinstance(now, dict):
        return [f"{name}: {before} -> {now}"]
    changed = [key for key in {*before, *now} if before.get(key) != now.get(key)]
    return [f"{name}: {key} {'changed' if key in before else 'is new'}" for key in sorted(changed)]


@asynccontextmanager
async def scene(
    world: World, wall: str, person: str, actions: Sequence[Action] = (), kind: type[Scene] = Scene
) -> AsyncIterator[Scene]:
    """A scene while it lasts."""
    made = kind(world, wall, person, actions)
    try:
        await made.begin()
        yield made
    finally:
        await made.close()


def as_line(call: tuple[str, str]) -> str:
    """A call as a line that a person says."""
    return f"ORDER {call[0]} {json.dumps(json.loads(call[1]))}"
