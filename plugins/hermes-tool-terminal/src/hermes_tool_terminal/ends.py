"""Looks, where a host serves, for processes whose Hermes died, so that their conversations hear of it by themselves."""

import asyncio

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName
from hermes_core.kinds import Service
from hermes_core.types import Principal
from hermes_tool_terminal.processes import table_of
from hermes_tool_terminal.records import awaited, load, plan_of, wait_no_more
from hermes_tool_terminal.telling import telling_of

__all__ = ["Ends"]

_EVERY = 20.0  # seconds


class Ends(Service):
    """The processes of this machine that nobody keeps any more."""

    name = "processes"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except HermesError as error:
                self._ctx.log.warning("processes of the background could not be looked for: %s", error)
            await asyncio.sleep(_EVERY)

    async def look(self) -> None:
        """Have told what was not; a conversation where nothing is left to tell is forgotten."""
        table = table_of(self._ctx)
        for name, (profile, person, host) in (await awaited(self._ctx)).items():
            if host != table.holder.host or name in table.sessions:
                continue
            try:
                session = await self._ctx.sessions.get(Principal(profile=profile, person=person), name)
            except UnknownName:
                await wait_no_more(self._ctx, name)
                continue
            records = (await load(self._ctx, session)).values()
            kept = [one for one in records if one.state == "running" and table.holder.lives(one)]
            left = [one for one in records if one.begins and not one.told and not one.lost and one not in kept]
            if left or (await plan_of(self._ctx, session)).get("plan"):
                telling_of(self._ctx).soon(session)
            elif not kept:
                await wait_no_more(self._ctx, name)
