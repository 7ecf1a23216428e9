"""Whether a turn runs in a session, and how it is stopped, in whichever process it runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Principal

__all__ = ["Turns"]

_LOOK = 1.0  # seconds between two looks at whether a turn is to be stopped by another process


class Turns:
    """The turns of this process, and, where workers in others play too (``elsewhere``), of those."""

    def __init__(self, ctx: PluginContext, *, elsewhere: bool) -> None:
        self._ctx, self._elsewhere = ctx, elsewhere

    async def busy(self, session_id: str, owner: Principal) -> bool:
        """Whether a turn runs in a session."""
        return await self._ctx.turns.busy(session_id, owner=owner, elsewhere=self._elsewhere)

    async def interrupt(self, session_id: str, owner: Principal) -> bool:
        """Stop the turn that runs in a session; False when none runs."""
        return await self._ctx.turns.interrupt(session_id, owner=owner, elsewhere=self._elsewhere)

    @contextlib.asynccontextmanager
    async def stoppable(self, session_id: str, owner: Principal) -> AsyncIterator[None]:
        """While this lasts, what other processes ask, to stop the session's turn, is heard."""
        watching = asyncio.create_task(self._watch(session_id, owner)) if self._elsewhere else None
        try:
            yield
        finally:
            if watching:
                watching.cancel()

    async def _watch(self, session_id: str, owner: Principal) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            with contextlib.suppress(HermesError):  # the store is away for a moment; the next look sees it
                if await self._ctx.host.turns.stop_wanted(session_id):
                    await self._ctx.turns.interrupt(session_id, owner=owner)
