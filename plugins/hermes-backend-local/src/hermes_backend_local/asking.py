"""Asking, for the commands that run now, whether a host may be reached that no rule opens."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hermes_core.values import define

if TYPE_CHECKING:
    from hermes_backend_wall.proxy.questions import Crossing

__all__ = ["Asking", "Command", "Keep"]

Opens = Callable[[str], Awaitable[str]]
Keep = Callable[[str], Awaitable[None]]
_WEB = (80, 443)


@define(eq=False)
class Command:
    """One that runs: ``opens`` is its ``ExecRequest.opens``, ``clock`` what ends it when its time is over."""

    opens: Opens
    clock: asyncio.Timeout | None = None


class Asking:
    """Puts a question once while commands run. ``keep`` opens a host for good."""

    def __init__(self, keep: Keep | None = None) -> None:
        self._keep = keep
        self._commands: list[Command] = []
        self._answers: dict[str, asyncio.Task[str]] = {}
        self._kept: set[str] = set()
        self._open = 0
        self._left: list[tuple[asyncio.Timeout, float]] = []

    @contextmanager
    def of(self, opens: Opens | None) -> Iterator[Command | None]:
        """While a command runs that can be asked. What was asked for none but it is withdrawn with it."""
        if opens is None:
            yield None
            return
        command = Command(opens)
        self._commands.append(command)
        try:
            yield command
        finally:
            self._commands.remove(command)
            if not self._commands:
                for answer in self._answers.values():
                    answer.cancel()
                self._answers.clear()

    async def ask(self, crossing: "Crossing") -> bool | None:
        """Whether a person, or what they said before, opens a host; None where nobody is there."""
        host = f"[{crossing.host}]" if ":" in crossing.host else crossing.host
        place = f"{host}:{crossing.port}"
        if place in self._kept:
            return True
        if place not in self._answers:
            if not self._commands:
                return None
            # Of this workspace, all are commands of one conversation.
            self._answers[place] = asyncio.ensure_future(self._answer(self._commands[-1], place))
        answer = self._answers[place]
        try:
            said = await asyncio.shield(answer)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not answer.cancelled() or (current and current.cancelling()):
                raise
            return False  # no command is there any more that wanted to know
        if said == "always" and self._keep and place not in self._kept:
            self._kept.add(place)
            await self._keep(host if crossing.port in _WEB else place)
        return said in ("once", "session", "always") if said else None

    async def _answer(self, command: Command, place: str) -> str:
        self._stop_clocks()
        self._open += 1
        try:
            return await command.opens(place)
        finally:
            self._open -= 1
            self._start_clocks()

    def _stop_clocks(self) -> None:
        """A person who thinks takes none of a command's time."""
        now = asyncio.get_running_loop().time()
        for clock in (command.clock for command in self._commands):
            if clock is not None and (when := clock.when()) is not None and not clock.expired():
                self._left.append((clock, when - now))
                clock.reschedule(None)

    def _start_clocks(self) -> None:
        if self._open:
            return
        now = asyncio.get_running_loop().time()
        for clock, left in self._left:
            with suppress(RuntimeError):  # its command has ended
                clock.reschedule(now + left)
        self._left.clear()
