"""The platform: one chat between Hermes and whoever sits at this terminal, or stands behind this pipe."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hermes_core.errors import UserError
from hermes_core.kinds import Console
from hermes_core.types import Chat, Ended, Envelope, Event, Feature, Message, Question, Sent, Started, Text, Verdict
from hermes_platform_cli.config import LEAVING, Config
from hermes_platform_cli.streams import Streams
from hermes_platform_kit.front import Front, Ways
from hermes_platform_kit.fronted import Fronted

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from hermes_platform_cli.full import Full
    from hermes_platform_cli.plain import Plain
    from hermes_platform_cli.tty import Tty

__all__ = ["CHAT", "Cli", "make"]

CHAT = "main"
_AGAIN = 2.0  # seconds in which a second Ctrl+C leaves
_PATIENCE = 5.0  # seconds for the kernel to store a message
_GRACE = 0.25  # seconds to see whether a stored message stirs anything


class Cli(Fronted):
    """The classic terminal conversation.

    ``streams`` and ``source``/``sink`` (prompt_toolkit's ends of a terminal) are given by tests and by programs that
    bring a terminal of their own; else the process's own streams are used.
    """

    name = "cli"
    front = "hermes_platform_cli.platform:make"
    features = frozenset({Feature.LIVE})

    def __init__(
        self,
        config: Config,
        data: Path,
        *,
        program: str = "hermes",
        streams: Streams | None = None,
        source: "Input | None" = None,
        sink: "Output | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._data, self._program = data, program
        self._streams = streams
        self._source, self._sink = source, sink
        self._clock = clock
        self._person = ""
        self._console: Console | None = None
        self._face: Full | Plain | None = None
        self._tty: Tty | None = None
        # No turn runs; the last message was stored; it has led to something.
        self._idle, self._stored, self._stirred = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._interrupted_at = float("-inf")
        self._interrupting: asyncio.Task[bool] | None = None
        self._leaving = False

    def shown(self) -> Mapping[str, Any]:
        from attrs import asdict

        return {"config": asdict(self._config), "data": str(self._data)}  # type: ignore[arg-type]  # it is of attrs

    async def open(self, console: Console) -> None:
        """Take the terminal and say who is here."""
        from hermes_platform_cli.tty import Tty

        await console.prepare()  # the first line says who answers
        self._console = console
        self._leaving = False
        self._interrupted_at = float("-inf")
        self._released()
        self._person = _user()
        streams = self._streams or Streams()
        if self._source is not None or streams.rich:
            from hermes_platform_cli.full import Full
            from hermes_platform_kit.product import version_of

            own = self._source is None
            self._tty = Tty(streams.stdin.fileno(), streams.stdout, self._interrupt) if own else None
            self._face = Full(
                self._config,
                streams,
                console,
                CHAT,
                self._person,
                data=self._data,
                tty=self._tty,
                source=self._source,
                sink=self._sink,
                interrupt=self._interrupt,
                version=version_of(self._program),
            )
        else:
            from hermes_platform_cli.plain import Plain

            self._tty = Tty(None, streams.stdout, self._interrupt)
            self._face = Plain(self._config, streams, console, CHAT, self._person)
        if self._tty is not None:
            self._tty.take()
        await self._face.open()

    async def receive(self) -> AsyncIterator[Envelope]:
        """What the person sends, until they leave. The next prompt waits for the end of a running turn.

        What a person types at a terminal while it runs is sent at once; the lines of a pipe wait.
        """
        face = self._opened()
        while True:
            line = await self._settle(face)
            if line and line.strip() not in LEAVING:
                self._stirred.clear()
                self._stored.clear()
                yield self._envelope(line)
                continue
            if line:
                await self._idle.wait()
                return
            text = None if self._leaving or self._face is None else await face.read()
            if text is None or text.strip() in LEAVING:
                return
            if not text.strip():
                continue
            self._stirred.clear()
            self._stored.clear()
            self._interrupted_at = float("-inf")  # a Ctrl+C of the last turn does not count for this one
            yield self._envelope(text)

    async def ack(self, envelope: Envelope) -> None:
        """The message is stored; what it leads to follows at once or takes its time."""
        self._stored.set()

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Show the result of a slash command, or a notice."""
        await self._opened().message(message)
        self._stored.set()
        self._stirred.set()
        return Sent(chat=chat.id, message_id=key)

    async def show(self, chat: Chat, event: Event) -> None:
        """Show an event of a running turn."""
        if isinstance(event, Started):
            self._idle.clear()
        self._stored.set()
        self._stirred.set()
        try:
            await self._opened().show(event)
        finally:
            if isinstance(event, Ended):
                self._idle.set()

    async def ask(self, chat: Chat, question: Question) -> Verdict | None:
        """Ask the person; None when there is only a pipe."""
        return await self._opened().ask(question)

    async def close(self) -> None:
        """Give the terminal back as it was found."""
        face, self._face = self._face, None
        tty, self._tty = self._tty, None
        try:
            if face is not None:
                await face.close()
            if self._interrupting is not None:
                self._interrupting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._interrupting
                self._interrupting = None
        finally:
            if tty is not None:
                tty.give_back()
            self._released()

    def _released(self) -> None:
        for event in (self._idle, self._stored, self._stirred):
            event.set()

    def _opened(self) -> "Full | Plain":
        if self._face is None:
            raise UserError("The conversation is not open.", hint="Call open() first.")
        return self._face

    def _envelope(self, text: str) -> Envelope:
        from hermes_platform_kit.clean import whole

        said = Message(role="user", parts=(Text(text=whole(text)),))
        return Envelope(
            platform=self.name, account="tty", event_id=uuid4().hex, chat=CHAT, sender=self._person, message=said
        )

    async def _settle(self, face: "Full | Plain") -> str:
        """Wait for the end of a turn, or for a line that was typed while it runs.

        The kernel asks for the next message while it still works on this one.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stored.wait(), _PATIENCE)
            await asyncio.wait_for(self._stirred.wait(), _GRACE)
        self._stored.set()
        self._stirred.set()
        if self._idle.is_set():
            return ""
        idle, typed = asyncio.ensure_future(self._idle.wait()), asyncio.ensure_future(face.typed())
        try:
            await asyncio.wait({idle, typed}, return_when=asyncio.FIRST_COMPLETED)
            return typed.result() if typed.done() else ""
        finally:
            idle.cancel()
            typed.cancel()
            await asyncio.wait({idle, typed})

    def _interrupt(self) -> bool:
        """Ctrl+C; False when the process should end by it."""
        face, console = self._face, self._console
        if face is None or console is None:
            return False
        if face.interrupting():
            return True
        if self._idle.is_set() and self._stirred.is_set():
            return False
        now = self._clock()
        if now - self._interrupted_at <= _AGAIN:
            self._leaving = True
            return False
        self._interrupted_at = now
        face.stopping()
        self._interrupting = asyncio.ensure_future(console.interrupt(CHAT))
        return True


class Line(Front):
    """The terminal of a process that knows a host alone; its first line says who answers, which the host knows."""

    def __init__(self, config: Config, data: Path) -> None:
        self._platform = Cli(config, data)

    def unfit(self) -> str:
        return self._platform.unfit()

    def platform(self) -> Cli:
        return self._platform


def make(ways: Ways) -> Line:
    """Make it. Raises KeyError and TypeError where a host says something else of it."""
    return Line(Config(**ways.shown["config"]), Path(ways.shown["data"]))


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "owner"  # a container may run under a number without a name
