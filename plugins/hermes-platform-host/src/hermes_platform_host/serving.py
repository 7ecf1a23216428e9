"""The service that listens to the terminals of this home, and who speaks with each."""

import asyncio
import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.environment import caller
from hermes_core.kinds import Service
from hermes_front.screen import FRONTS
from hermes_front.wire import LARGEST, connect, place_of, reached, why_refused
from hermes_platform_host.attached import attached
from hermes_platform_host.callers import Callers
from hermes_platform_host.config import Config
from hermes_platform_host.consoles import consoles
from hermes_platform_host.fronts import fronts
from hermes_platform_host.one_shot import one_shot
from hermes_platform_host.rooms import Rooms
from hermes_platform_host.screens import Screen
from hermes_platform_kit.spoken import heard

__all__ = ["Serving", "folder_of", "running"]

_HELLO = 2.0  # seconds for a terminal to say who it is
_LOOK = 2.0  # seconds between two looks at whether another host of this home has ended
_OTHERS = 0.5  # seconds between two looks at what others do in sessions in which a screen is
_LAST = 1.0  # seconds for turns to end, and for terminals to be told so, once this is stopped


def folder_of(ctx: PluginContext) -> Path:
    """Where the socket of a home is, and the lock of who has it."""
    return Path(place_of(str(ctx.paths.home))).parent


def running(ctx: PluginContext) -> bool:
    """Tell whether a host of this home answers."""
    found = connect(place_of(str(ctx.paths.home)), 0.5)
    if found is None:
        return False
    found.close()
    return True


class Serving(Service):
    """Serves terminals of this home; one process does at a time."""

    name = "host"
    local = True

    def __init__(self, ctx: PluginContext, *, patient: bool = True, anew: str = "") -> None:
        """One that is not ``patient`` is done where another host of this home runs, instead of waiting for its end.

        ``anew`` is a sentence that says how it is begun anew; without one it is a gateway.
        """
        name = ctx.program
        self._anew = anew or f"Begin it anew: {name} gateway stop, then {name} gateway start"
        self._ctx, self._patient = ctx, patient
        config = ctx.config or Config()
        self._most = config.connections
        self._talking: set[asyncio.Task[None]] = set()
        self.rooms = Rooms(ctx)
        self._used, self.outdated = time.monotonic(), False

    async def run(self) -> None:
        """Listen until cancelled. What runs then goes on as long as the process lets it."""
        folder = folder_of(self._ctx)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        with (folder / "host.lock").open("w") as lock:
            while not _locked(lock.fileno()):
                if not self._patient:
                    return
                await asyncio.sleep(_LOOK)
            place = Path(place_of(str(self._ctx.paths.home)))
            place.unlink(missing_ok=True)  # whoever had the lock is gone
            callers = Callers(self._ctx)

            def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                task = asyncio.get_running_loop().create_task(self._talk(callers, reader, writer))
                self._talking.add(task)
                task.add_done_callback(self._talking.discard)

            def protocol() -> asyncio.StreamReaderProtocol:
                return asyncio.StreamReaderProtocol(_Heard(limit=LARGEST), begin)

            # What makes a socket by its address would look for that, which may be a long way round.
            loop = asyncio.get_running_loop()
            server = await loop.create_server(protocol, sock=_bound(place), backlog=128)
            try:
                while True:
                    await asyncio.sleep(_OTHERS)
                    await self.rooms.look()
            finally:
                place.unlink(missing_ok=True)
                server.close()
                if left := {*self._talking, *self.rooms.tasks()}:
                    await asyncio.wait(left, timeout=_LAST)

    @property
    def unused(self) -> float:
        """For how many seconds no terminal was here, and nothing ran."""
        return 0.0 if self._talking or self.rooms.playing() else time.monotonic() - self._used

    async def status(self) -> str:
        answers = await asyncio.to_thread(running, self._ctx)
        return "terminals are served" if answers else "no terminal is served"

    async def _talk(self, callers: Callers, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak with one terminal until it leaves; none of its faults is anybody else's."""
        try:
            connection = writer.get_extra_info("socket")
            if why := why_refused(connection):
                self._ctx.log.warning("a connection was refused: %s", why)
                return
            said = heard(reader)
            try:
                async with asyncio.timeout(_HELLO):
                    told = await anext(said, None)
            except TimeoutError:
                told = None
            if told is None:
                return
            screen = Screen(writer, told)
            if why := self._why_not(callers, told):
                self.outdated = self.outdated or why.startswith(("version", "settings"))
                screen.send(no=why, version=__version__, anew=self._anew)
                return
            env: Mapping[str, str] = told["env"]
            caller.set(env)
            screen.send(ok=1, version=__version__, fronts=FRONTS, anew=self._anew)
            cwd = str(told.get("cwd") or "")
            if told.get("do") == "front":
                await fronts(told, self._ctx, self.rooms, screen, said, cwd)
                return
            serve = {"attach": attached, "console": consoles}.get(str(told.get("do")), one_shot)
            await serve(self._ctx, self.rooms, screen, said, cwd)
        except Exception:  # it costs this terminal its connection, and nobody else anything
            self._ctx.log.exception("a terminal could not be served")
        finally:
            self._used = time.monotonic()
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    def _why_not(self, callers: Callers, told: Mapping[str, Any]) -> str:
        if len(self._talking) > self._most:
            return "busy"
        return callers.why_not(told)


class _Heard(asyncio.StreamReader):
    """What a terminal says. One that leaves without reading its last answers breaks the connection.

    asyncio would then let go of what had come before; here that is heard, and ends like any other.
    """

    def set_exception(self, exc: Exception) -> None:
        """See StreamReader."""
        if isinstance(exc, ConnectionError):
            self.feed_eof()
        else:
            super().set_exception(exc)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _bound(place: Path) -> socket.socket:
    """A socket at a place, which nobody but this user could ever open. Raises OSError."""
    made, opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), -1
    before = os.umask(0o177)
    try:
        address, opened = reached(str(place))
        made.bind(address)
    except OSError:
        made.close()
        raise
    finally:
        os.umask(before)
        if opened >= 0:
            os.close(opened)
    made.setblocking(False)
    return made
