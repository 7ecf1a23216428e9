"""A screen of a host in a process that has loaded nothing: drawn first; a kernel is opened once one is asked."""

import asyncio
import gc
import logging
import socket
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hermes_core.errors import HermesError, PluginError, UserError
from hermes_front.screen import strange
from hermes_platform_kit.front import Front, Ways

if TYPE_CHECKING:
    from hermes_core import Hermes
    from hermes_core.context import PluginContext
    from hermes_platform_cli.console.line import Line

__all__ = ["carry"]

_STARTED = 1.0  # seconds after which garbage is collected again: what starts is imported by then
_TOLD = 500  # characters of what broke a screen
_WRITES = 1.5  # seconds for what threads still write once all is over


def carry(program: str, _home: str, connection: socket.socket, offer: Mapping[str, Any]) -> int | None:
    """Carry the first platform of a host's offer that fits this terminal; the exit status. None where none does."""
    screen = _Screen(program, offer)
    try:
        front = screen.front()
    except (ImportError, AttributeError, KeyError, TypeError):
        strange(program, offer)
        return None
    if front is None:
        return None
    try:
        # The process ends by whoever called: what is left of the loop would only take the person's time.
        return asyncio.Runner().run(screen.serve(front, connection))
    except HermesError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        return 2 if isinstance(error, UserError) else 3 if isinstance(error, PluginError) else 1
    except Exception as error:  # noqa: BLE001 - what runs goes on at the host
        told = " ".join(f"{type(error).__name__}: {error}".split())[:_TOLD]
        sys.stderr.write(f"This screen broke: {told}\nNothing that was stored is lost: go on with {program} --cli -c\n")
        sys.stderr.flush()
        return 1


class _Screen:
    """One platform of an offer, and what it may ask."""

    def __init__(self, program: str, offer: Mapping[str, Any]) -> None:
        self._program, self._offer = program, offer
        self._line: asyncio.Future[Line]
        self._name = ""
        self._kernel: Hermes | None = None
        self._opening = asyncio.Lock()

    def front(self) -> Front | None:
        """Return the first that fits this terminal."""
        for one in self._offer["platforms"]:
            module, _, function = one["front"].partition(":")
            ways = Ways(one["shown"], self._offer["owner"], self._ask, self._open)
            made: Front = getattr(import_module(module), function)(ways)
            if not made.unfit():
                self._name = one["name"]
                return made
        return None

    async def serve(self, front: Front, connection: socket.socket) -> int:
        """Draw it, and carry it until those on it leave, or the host ends; the exit status."""
        loop = asyncio.get_running_loop()
        self._line = loop.create_future()
        await front.draw(self._offer["facts"])
        from hermes_core.types import Principal
        from hermes_platform_cli.console.elsewhere import LARGEST, Elsewhere
        from hermes_platform_cli.console.line import Line

        loop.call_later(_STARTED, gc.freeze)
        loop.call_later(_STARTED, gc.enable)
        connection.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=LARGEST)
        line = Line(writer)
        self._line.set_result(line)
        logging.raiseExceptions = False
        ours, kernel = logging.getLogger("hermes"), logging.getLogger("hermes_core")
        for logger in (ours, kernel):
            logger.propagate, logger.handlers[:] = False, [_Log(line, loop)]
        loop.set_exception_handler(lambda _, told: ours.error("%s", told["message"], exc_info=told.get("exception")))
        carried = Elsewhere(
            (self._program, Principal(**self._offer["owner"])),
            front.platform(),
            self._offer["session"],
            reader,
            line,
            require=_allowed,
            facts=self._offer["facts"],
        )
        try:
            return await carried.serve()
        finally:
            if self._kernel:
                await self._kernel.close()
            await asyncio.wait({asyncio.ensure_future(loop.shutdown_default_executor())}, timeout=_WRITES)

    async def _ask(self, what: str, given: Mapping[str, Any]) -> Any:
        return await (await self._line).ask("platform", "", what, given=given)

    async def _open(self) -> "PluginContext":
        async with self._opening:
            if self._kernel is None:
                from hermes_core import Hermes

                self._kernel = Hermes()
            runtime = self._kernel.runtime
            return runtime.plugin_context(runtime.index.contributing("platforms", self._name)[0])


class _Log(logging.Handler):
    """What goes wrong here is written into the log by the host, which knows what is masked in it."""

    def __init__(self, line: "Line", loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self._line, self._loop = line, loop

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, from whatever thread."""
        text = f"{record.name}: {self.format(record)}"
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self._line.say(log=text))


def _allowed(_permission: str, _did: str) -> None:
    """Refuse nothing: the host has looked at what the plugin may ask; its platform there does what is asked."""
