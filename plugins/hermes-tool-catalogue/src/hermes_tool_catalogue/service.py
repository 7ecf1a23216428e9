"""Lists of models are asked for again while a gateway runs, so that what is shown without asking is not old."""

import asyncio
import time

from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_tool_catalogue.config import Config
from hermes_tool_catalogue.refresh import last, refresh

__all__ = ["Catalogue"]

_LOOK = 600.0  # seconds between two looks at whether it is time
_DAY = 86_400.0


class Catalogue(Service):
    """Has a round made once an interval. The lists are this machine's, so it runs once on each.

    A round that failed is not made again before its time: whoever needs a list asks for it then.
    """

    name = "catalogue"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._config = ctx.config or Config()

    async def run(self) -> None:
        """Look whether it is time, until cancelled; first a while after the start, when others have begun."""
        while True:
            await asyncio.sleep(_LOOK)
            if self.due():
                await refresh(self._ctx, public=self._config.public)

    def due(self) -> bool:
        """Tell whether it is time for a round; a clock that was put back counts as one."""
        age = time.time() - last(self._ctx).when
        return not 0 <= age < self._config.days * _DAY

    async def status(self) -> str:
        """Say what the last round came to."""
        return (await asyncio.to_thread(last, self._ctx)).told
