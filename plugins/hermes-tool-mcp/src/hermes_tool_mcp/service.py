"""What keeps a server's list fresh while a gateway runs: one service for each server.

A server at an address stays connected, so that it can tell of changes. One that is started is asked and ended again:
each conversation starts its own.
"""

import asyncio
import time

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.tools import toolset_of

__all__ = ["Keeping"]

_AGAIN = 3600.0  # seconds after which a started server is asked again
_LONGEST = 60.0  # seconds between two tries


class Keeping(Service):
    """Keeps one server's list."""

    def __init__(self, ctx: PluginContext, name: str, server: ServerSettings) -> None:
        self.name = toolset_of(name)
        self._ctx, self._server, self._settings = ctx, name, server
        self._why = ""

    async def run(self) -> None:
        """Connect, for ever, after pauses that grow."""
        from hermes_tool_mcp.pool import pool_of

        pool, holder, pause = pool_of(self._ctx), f"service {self.name}", 1.0
        try:
            while True:
                connection = pool.hold(holder, self._server, self._settings, self._ctx.owner)
                try:
                    await connection.client()
                    self._why, pause = "", 1.0
                    if self._settings.command:
                        await pool.release(holder)
                        await asyncio.sleep(_AGAIN)
                    else:
                        await connection.ended()
                except HermesError as error:
                    self._why = error.text
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LONGEST)
        finally:
            await pool.release(holder)

    def health(self) -> str:
        """Say why it is not there."""
        return self._why

    async def status(self) -> str:
        """Say what is known of it."""
        listed = lists_of(self._ctx).get(self._server, self._settings)
        if listed is None:
            return "nobody has asked it yet what it has"
        return f"{len(listed.tools)} tools, asked {(time.time() - listed.at) / 60:.0f} minutes ago"
