"""What ``hermes`` serves a terminal's platform with."""

import asyncio
import signal
from collections.abc import Callable

from hermes_core.context import PluginContext
from hermes_core.kinds import ConsoleDriver, Platform

__all__ = ["Terminal"]


class Terminal(ConsoleDriver):
    """Carries the conversations of one platform until the people on it leave."""

    name = "terminal"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def serve(self, platform: Platform, session: str, require: Callable[[str, str], None]) -> None:
        """See ConsoleDriver."""
        from hermes_platform_cli.console.session import ConsoleSession

        # It is the platform's, which puts the terminal right first: nothing is cancelled under it.
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        await ConsoleSession(self._ctx, platform, session=session, require=require).serve()
