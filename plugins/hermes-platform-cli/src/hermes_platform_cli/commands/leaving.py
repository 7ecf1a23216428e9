"""Being ended from outside: what runs is ended with all it started, and its turn is left to whoever comes next."""

import asyncio
import contextlib
import signal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["ENDED", "Leaving"]

_ASKED = (signal.SIGTERM, signal.SIGHUP)
ENDED = 130  # what a command that was interrupted ends with


class Leaving:
    """Hears SIGTERM and SIGHUP while it is entered: ``async with Leaving(ctx) as leaving``.

    The first cancels what runs within, once the turns of this process are left as a death leaves them, so that
    ``hermes -c`` finishes them. ``caught`` says that it came: the block then ends without an error. Where a signal is
    ignored, as nohup has it, it stays so. Without a ``ctx`` no turn is of this process, and none is left.
    """

    def __init__(self, ctx: "PluginContext | None") -> None:
        self._ctx = ctx
        self._work: asyncio.Task[object] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._heard: list[tuple[signal.Signals, Any]] = []

    @property
    def caught(self) -> bool:
        """Whether a signal came."""
        return self._ending is not None

    def end(self) -> None:
        """Raise what ends a command that was interrupted, when a signal came."""
        if self.caught:
            import click

            raise click.exceptions.Exit(ENDED)

    async def __aenter__(self) -> Self:
        self._work, loop = asyncio.current_task(), asyncio.get_running_loop()
        for number in _ASKED:
            if (before := signal.getsignal(number)) is not signal.SIG_IGN:
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # beside the main thread
                    loop.add_signal_handler(number, self._hear)
                    self._heard.append((number, before))
        return self

    def _hear(self) -> None:
        # What comes a second time is no impatience: a shell passes on the SIGHUP that the system has sent already.
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._leave())

    async def _leave(self) -> None:
        with contextlib.suppress(HermesError):  # else the turn is taken over when this process is gone
            if self._ctx:
                await self._ctx.host.records.leave()
        assert self._work
        self._work.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        for number, before in self._heard:
            asyncio.get_running_loop().remove_signal_handler(number)
            if not getattr(before, "__module__", "").startswith("asyncio"):  # of the loop: that is gone for good
                signal.signal(number, before)
        if self._ending is None or self._work is None:
            return False
        if (signal.SIGHUP, signal.SIG_DFL) in self._heard:  # a shell passes on what the system has sent already
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        await asyncio.wait({self._ending})
        if kind is not None and not issubclass(kind, asyncio.CancelledError):
            return False
        self._work.uncancel()
        return True
