"""A console elsewhere: a terminal, or a full screen, of another process whose conversations are carried here."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from attrs import asdict

from hermes_core.codec import message_from_json, message_to_json
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Console, Platform
from hermes_core.types import (
    Chat,
    Choice,
    Ended,
    Envelope,
    Event,
    Feature,
    Message,
    Question,
    Sent,
    Session,
    SlashCommand,
    Started,
    Verdict,
)
from hermes_platform_host.rooms import Rooms
from hermes_platform_host.screens import Screen
from hermes_platform_host.shared import Shared
from hermes_platform_kit.fronted import Fronted
from hermes_platform_kit.shared import SharingDriver
from hermes_platform_kit.spoken import PROTOCOL, choice_of_json, event_to_json, session_to_json, verdict_of_json

__all__ = ["consoles", "driver_of"]

Frames = AsyncIterator[Mapping[str, Any]]
_LOGGED = 20_000  # characters of what a screen elsewhere has for the log
_PATIENCE = 5.0  # seconds for a console that was opened to ask how a chat of it is


async def consoles(ctx: PluginContext, rooms: Rooms, screen: Screen, frames: Frames, cwd: str) -> None:
    """Carry the conversations of a console until those at it leave. What runs goes on."""
    told = await anext(frames, None)
    if told is None:
        return
    driver = driver_of(ctx)
    if driver is None or told.get("console") != PROTOCOL:
        screen.send(no="no console is carried here")
        return
    session = str(told.get("session") or "")
    turns = Shared(ctx, rooms, cwd, stays=told.get("stays") is True)
    elsewhere = Elsewhere(ctx, screen, told, session, turns.folder or cwd)
    hearing = asyncio.create_task(elsewhere.hear(frames))
    try:
        await driver.share(elsewhere, session, turns)
    except HermesError as error:
        screen.answers.tell(ctx.masks.text(str(error)))
        screen.send(x=2 if isinstance(error, UserError) else 1)
        return
    finally:
        hearing.cancel()
        turns.leave()
    screen.send(x=0)


def driver_of(ctx: PluginContext) -> SharingDriver | None:
    """Return what carries consoles of a host here, if a plugin has such a thing."""
    found, _ = ctx.host.contributed("consoles", ctx.plugins.offered("consoles"))
    return next((one for one in found.values() if isinstance(one, SharingDriver)), None)


class Elsewhere(Platform):
    """The platform of a console, as whoever carries it has it: what it is told goes over the connection."""

    features = frozenset({Feature.LIVE})

    def __init__(self, ctx: PluginContext, screen: Screen, told: Mapping[str, Any], session: str, folder: str) -> None:
        self._ctx, self._screen, self._session, self._folder = ctx, screen, session, folder
        name = str(told.get("platform") or "")
        self.name = name if name.isidentifier() else "cli"
        self._own = [one for one in told.get("commands") or () if isinstance(one, dict)]
        self._incoming: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._console = Console()
        self._shown: dict[str, Mapping[str, str]] = {}
        self._working: set[asyncio.Task[None]] = set()
        self._looked = asyncio.Event()  # the console has asked how a chat is, which makes that
        self._gone = False

    # --- what the driver asks of it -----------------------------------------------------------------------------------

    def commands(self) -> Sequence[SlashCommand]:
        return [self._command(one) for one in self._own]

    async def open(self, console: Console) -> None:
        self._console = console
        known = await self._ctx.sessions.get(self._ctx.owner, self._session) if self._session else None
        self._screen.send(opened=self._facts(self._ctx.slash.commands("terminal").status(known)))
        names = ("name", "summary", "usage", "at_once", "who", "where", "examples", "group", "aliases", "each")
        self._screen.send(commands=[{name: getattr(one, name) for name in names} for one in console.commands])
        with contextlib.suppress(TimeoutError):  # what goes on there is shown in a chat that is known
            await asyncio.wait_for(self._looked.wait(), _PATIENCE)

    async def receive(self) -> AsyncIterator[Envelope]:
        while envelope := await self._incoming.get():
            yield envelope

    async def ack(self, envelope: Envelope) -> None:
        self._screen.send(ack=envelope.event_id)

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        self._see(chat.id)
        self._screen.send(send=message_to_json(message), chat=chat.id, key=key)
        return Sent(chat=chat.id, message_id=key)

    async def show(self, chat: Chat, event: Event) -> None:
        if isinstance(event, Started | Ended):
            self._see(chat.id)
        if (told := event_to_json(event)) is not None:
            self._screen.send(show=told, chat=chat.id)

    async def ask(self, chat: Chat, question: Question) -> Verdict | None:
        if self._gone:
            return None
        told = await self._asked(ask=asdict(question), chat=chat.id)
        return verdict_of_json(said) if isinstance(said := told.get("verdict"), dict) else None

    # --- what it hears ------------------------------------------------------------------------------------------------

    async def hear(self, frames: Frames) -> None:
        """Do what the console asks for, until it leaves."""
        try:
            async for told in frames:
                if told.get("leave"):
                    return
                if isinstance(line := told.get("log"), str):
                    self._ctx.log.error("a screen elsewhere: %s", self._ctx.masks.text(line[:_LOGGED]))
                elif isinstance(said := told.get("said"), dict):
                    self._incoming.put_nowait(self._envelope(told, said))
                elif "re" in told and (future := self._waiting.get(told["re"])) and not future.done():
                    future.set_result(told)
                elif isinstance(told.get("do"), str):
                    task = asyncio.create_task(self._answer(told))
                    self._working.add(task)
                    task.add_done_callback(self._working.discard)
        except (KeyError, TypeError, ValueError):
            self._ctx.log.warning("a console said what nobody understands")
        finally:
            self._gone = True
            self._looked.set()
            self._incoming.put_nowait(None)
            for future in self._waiting.values():
                if not future.done():
                    future.set_result({})

    def _envelope(self, told: Mapping[str, Any], said: dict[str, Any]) -> Envelope:
        chat, event = str(told["chat"]), str(told["event"])
        message, sender = message_from_json(said), str(told.get("sender") or self._ctx.owner.person)
        return Envelope(platform=self.name, account="tty", event_id=event, chat=chat, sender=sender, message=message)

    async def _answer(self, told: Mapping[str, Any]) -> None:
        """Answer what the console asks of whoever carries it."""
        chat, words = str(told.get("chat") or ""), [str(one) for one in told.get("words") or ()]
        try:
            if told["do"] == "platform":
                value = await self._platform(words[0], told.get("given"))
            else:
                value = await self._done(told["do"], chat, words)
        except HermesError as error:
            self._screen.send(re=told["id"], error=error.text, hint=error.hint)
            return
        except Exception as error:  # it costs this answer, and nobody's conversation
            self._ctx.log.exception("a console's question could not be answered")
            self._screen.send(re=told["id"], error=type(error).__name__, hint="")
            return
        self._see(chat)
        self._screen.send(re=told["id"], value=value)
        if chat:
            self._looked.set()

    async def _done(self, what: str, chat: str, words: Sequence[str]) -> Any:
        console = self._console
        match what:
            case "prepare":
                await console.prepare()
                return self._facts(self._ctx.slash.commands("terminal").status(None))
            case "status":
                return self._facts(console.status(chat))
            case "wall":
                wall = await console.wall(chat)
                return asdict(wall) if wall else None
            case "open":
                return session_to_json(await console.open(chat, words[0]))
            case "complete":
                return [asdict(one) for one in await console.complete(chat, words[0])]
            case "jobs":
                return [asdict(one) for one in await console.jobs(chat)]
            case "job_output":
                return await console.job_output(chat, words[0])
            case "stop_job":
                return await console.stop_job(chat, words[0])
            case "interrupt":
                return await console.interrupt(chat)
        raise UserError(f"Nobody here does {what!r}.")

    async def _platform(self, what: str, given: Any) -> Any:
        """Ask the platform of this name here, which has what its plugin may use."""
        found, _ = self._ctx.host.contributed("platforms", [self.name])
        if not isinstance(there := found.get(self.name), Fronted):
            raise UserError(f"Nobody here knows of {what!r}.")
        return await there.asked(what, given if isinstance(given, dict) else {})

    # --- how it is said -----------------------------------------------------------------------------------------------

    def _see(self, chat: str) -> None:
        """Let the console know how a chat is now, if it is not as it was."""
        facts = self._facts(self._console.status(chat)) if chat else {}
        if facts and facts != self._shown.get(chat):
            self._shown[chat] = facts
            self._screen.send(status=facts, chat=chat)

    def _facts(self, facts: Mapping[str, str]) -> Mapping[str, str]:
        return {**facts} if facts.get("session") else {**facts, "cwd": self._folder}

    async def _asked(self, **told: Any) -> Mapping[str, Any]:
        """Ask the console, and wait; it is told where nobody wants to know any more."""
        number = next(self._numbers)
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._screen.send(id=number, **told)
            return await answer
        finally:
            del self._waiting[number]
            if answer.cancelled():
                self._screen.send(withdrawn=number)

    def _command(self, told: Mapping[str, Any]) -> SlashCommand:
        """A command of the console itself, such as one that changes how its screen looks."""
        name = str(told["name"])

        async def run(session: Session, rest: str) -> str:
            said = await self._asked(run=name, rest=rest, session=session_to_json(session))
            if error := said.get("error"):
                raise UserError(str(error), hint=str(said.get("hint") or ""))
            return str(said.get("text") or "")

        async def options(session: Session, rest: str) -> Sequence[Choice]:
            said = await self._asked(options=name, rest=rest, session=session_to_json(session))
            return [choice_of_json(one) for one in said.get("choices") or ()]

        return SlashCommand(
            name=name,
            summary=str(told.get("summary") or ""),
            usage=str(told.get("usage") or ""),
            aliases=tuple(map(str, told.get("aliases") or ())),
            run=run,
            options=options if told.get("options") else None,
            at_once=True,
            who="everyone",
            where=("terminal",),
        )
