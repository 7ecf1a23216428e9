"""Whether a turn runs in a session, and how it is stopped, in whichever process it runs."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import HermesError
from hermes_core.types import Envelope, Message, Principal, Text

__all__ = ["Turns"]

_LOOK = 1.0  # seconds between two looks at whether a turn is to be stopped by another process


class Turns:
    """The turns of this process, and, where workers in others play too (``elsewhere``), of those."""

    def __init__(self, runtime: Runtime, *, elsewhere: bool) -> None:
        self._runtime, self.elsewhere = runtime, elsewhere

    async def busy(self, session_id: str) -> bool:
        """Whether a turn runs in a session."""
        if self._runtime.busy(session_id):
            return True
        return self.elsewhere and await (await self._runtime.store()).journal.is_held(session_id)

    async def interrupt(self, session_id: str, owner: Principal) -> bool:
        """Stop the turn that runs in a session; False when none runs."""
        if self._runtime.interrupt(session_id):
            return True
        if not await self.busy(session_id):
            return False
        wish = Message(role="user", parts=(Text(text="/stop"),))
        event, sender = os.urandom(16).hex(), owner.person
        envelope = Envelope(platform="gateway", account="", event_id=event, chat="", sender=sender, message=wish)
        store = await self._runtime.store()
        await store.inbox.wait(session_id, wish, mode="stop", envelope=envelope)
        return True

    @contextlib.asynccontextmanager
    async def stoppable(self, session_id: str) -> AsyncIterator[None]:
        """While this lasts, wishes of other processes to stop the session's turn are heard."""
        watching = asyncio.create_task(self._watch(session_id)) if self.elsewhere else None
        try:
            yield
        finally:
            if watching:
                watching.cancel()

    async def _watch(self, session_id: str) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            with contextlib.suppress(HermesError):  # the store is away for a moment; the next look sees it
                if await (await self._runtime.store()).inbox.stop_wanted(session_id):
                    self._runtime.interrupt(session_id)
