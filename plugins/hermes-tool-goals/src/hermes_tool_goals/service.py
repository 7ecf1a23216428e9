"""Goes on with goals where a gateway or a worker runs: those whose terminal was closed, and those of chats."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_tool_goals.clearing import clear
from hermes_tool_goals.shared import goals_of, is_used, pursuer_of
from hermes_tool_goals.words import happening, line
from hermes_tool_kit.telling import Announces, Happened

__all__ = ["Keeper"]

_LOOK = 5.0  # seconds between two looks for goals of other processes


class Keeper(Service, Announces):
    """Looks for goals of which something is to be done. It is no reason to begin a gateway where there are no chats."""

    name = "goals"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self.ctx = ctx

    async def run(self) -> None:
        """Look until cancelled."""
        try:
            await clear(self.ctx)  # what a death left
            while True:
                for goal in await goals_of(self.ctx).open():  # also those that were set on another machine
                    pursuer_of(self.ctx).wake(goal)
                await asyncio.sleep(_LOOK)
        finally:
            await pursuer_of(self.ctx).stop()

    async def happened(self, since: float, most: int) -> Sequence[Happened]:
        """Return which goals are done, or rest, of everybody."""
        if not is_used(self.ctx):
            return ()
        return [happening(one) for one in await goals_of(self.ctx).reported(since, most)]

    async def status(self) -> str:
        """Say what is pursued."""
        if not is_used(self.ctx):
            return ""
        try:
            there = [one for one in await goals_of(self.ctx).list() if one.state == "active"]
        except HermesError:
            return ""
        return f"{len(there)} active, last {line(there[0])}" if there else "no goal"
