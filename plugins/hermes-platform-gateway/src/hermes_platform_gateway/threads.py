"""Messages that are gone on with: each in a thread of its own where a platform has them, else by quoting it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from hermes_core.context import PluginContext
from hermes_core.errors import StoreError
from hermes_core.kinds import Service
from hermes_core.types import Message, Principal, Session, Target
from hermes_platform_gateway.messages import Messages
from hermes_platform_gateway.rows.kept import rows_of
from hermes_tool_kit.telling import Continues

__all__ = ["ThreadService"]

_TIDY = 3_600.0


class ThreadService(Service, Continues):
    """Takes such messages, and forgets what nobody answers any more."""

    name = "threads"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._messages = ctx, Messages(ctx)

    async def run(self) -> None:
        """Forget what is old, once an hour."""
        while True:
            with suppress(StoreError):
                await rows_of(self._ctx).threads.forget()
            await asyncio.sleep(_TIDY)

    async def carry_on(
        self, owner: Principal, target: str, message: Message, session: Session, *, topic: str, name: str, key: str
    ) -> Sequence[Target]:
        return await self._messages.send(owner, target, message, session, key, goes_on=(topic, name))
