"""The platform: the terminal this process was started on, as one screen. Each tab of it is a chat."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes_core.errors import HermesError
from hermes_core.kinds import Console
from hermes_core.types import Chat, Envelope, Event, Feature, Message, Question, Sent, SlashCommand, Verdict
from hermes_platform_kit.fronted import Fronted
from hermes_platform_tui.commands import own_commands
from hermes_platform_tui.config import Config

if TYPE_CHECKING:
    from hermes_platform_tui.app import HermesApp
    from hermes_platform_tui.distant import Around

__all__ = ["Tui"]


class Tui(Fronted):
    """The full-screen terminal.

    ``size`` and ``headless`` are for tests: the screen is drawn, and no terminal is touched.
    """

    name = "tui"
    account = "tty"
    front = "hermes_platform_tui.front:make"
    features = frozenset({Feature.LIVE})

    def __init__(
        self, config: Config, ctx: "Around", *, headless: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        self._config, self._ctx = config, ctx
        self._headless, self._size = headless, size
        self._app: HermesApp | None = None
        self._running: asyncio.Task[BaseException | None] | None = None
        self._incoming: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._become: Callable[[Console], None] | None = None

    def unfit(self) -> str:
        if self._headless:
            return ""
        from hermes_platform_tui.terminal.fit import size, unfit

        return unfit(sys.stdin, sys.stdout, os.environ, size())

    def commands(self) -> Sequence[SlashCommand]:
        return own_commands(lambda: self._app)

    def shown(self) -> Mapping[str, Any]:
        from attrs import asdict

        from hermes_platform_tui.told import first

        return {"config": asdict(self._config), **first(self._ctx)}  # type: ignore[arg-type]  # it is of attrs

    async def asked(self, what: str, given: Mapping[str, Any]) -> Any:
        from hermes_platform_tui.told import told

        return await told(self._ctx, what, given)

    def take_over(
        self,
        app: "HermesApp",
        running: "asyncio.Task[BaseException | None]",
        incoming: "asyncio.Queue[Envelope | None]",
        become: Callable[[Console], None],
    ) -> None:
        """Have a screen that is drawn already; it is told by ``become`` which console it asks."""
        self._app, self._running, self._incoming, self._become = app, running, incoming, become

    @property
    def app(self) -> "HermesApp":
        """The screen; only while it is open. Raises HermesError."""
        if self._app is None:
            raise HermesError("The screen is not open.")
        return self._app

    async def open(self, console: Console) -> None:
        """Take the terminal; it can be typed into when this returns.

        An earlier conversation is shown by then: what a turn that goes on says comes after it, and is not replaced.
        """
        if self._become is None:
            from hermes_platform_tui.app import HermesApp
            from hermes_platform_tui.running import run

            self._incoming = asyncio.Queue()
            self._app = HermesApp(self._config, self._ctx, console, self._incoming.put_nowait)
            given: dict[str, Any] = {"headless": True, "size": self._size} if self._headless else {}
            self._running = asyncio.create_task(run(self._app, self._config, self._incoming, **given), name="tui")
        else:
            become, self._become = self._become, None
            become(console)
        assert self._app
        assert self._running
        ready = asyncio.ensure_future((self._app.caught_up if self._app.view.session else self._app.drawn).wait())
        await asyncio.wait({ready, self._running}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._running.done():
            self._ended()

    async def receive(self) -> AsyncIterator[Envelope]:
        """What the person sends, in all tabs, until they leave. Raises HermesError when the screen broke."""
        while envelope := await self._incoming.get():
            yield envelope
        if self._running is not None and self._running.done():
            self._ended()

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Show the result of a slash command, or a notice."""
        if self._app is not None:
            self._app.deliver(chat.id, message)
        return Sent(chat=chat.id, message_id=key)

    async def show(self, chat: Chat, event: Event) -> None:
        """Show an event of a running turn."""
        if self._app is not None:
            self._app.deliver(chat.id, event)

    async def ask(self, chat: Chat, question: Question) -> Verdict | None:
        """Put a question in the tab of its chat; None when the screen is gone."""
        if self._app is None or self._running is None or self._running.done():
            return None
        answer = asyncio.ensure_future(self._app.questions.ask(chat.id, question))
        try:
            await asyncio.wait({answer, self._running}, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:  # also when the turn that asks is stopped: its dialog would stay, and answer nobody
            answer.cancel()

    async def close(self) -> None:
        """Give the terminal back as it was found."""
        app, self._app = self._app, None
        running, self._running = self._running, None
        self._incoming.put_nowait(None)
        if app is None or running is None:
            return
        app.leave()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({running})

    def _ended(self) -> None:
        assert self._running is not None
        error = None if self._running.cancelled() else self._running.result()
        if isinstance(error, HermesError):
            raise error
        if error is not None:
            raise HermesError(
                f"The full screen broke: {type(error).__name__}.",
                hint="Nothing that was said is lost: go on with `hermes -c`, or `hermes --cli -c`. "
                "`hermes logs` knows more.",
            )
