"""Reviews conversations where a gateway or a worker runs, tidies, and tells each week what was learned."""

import asyncio
import time
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_core.types import Message, Principal, Text
from hermes_tool_kit.screens import Screen, Screens
from hermes_tool_lessons.page import LearnedScreen
from hermes_tool_lessons.shared import config_of, is_on, is_used, ledger_of, queue_of, reviewer_of, rows_of
from hermes_tool_lessons.weeks import plan

__all__ = ["Keeper"]

_LOOK = 15.0
_DAY = 86_400.0
_STALE = 90 * _DAY  # what was told in no turn for so long is let go of


class Keeper(Service, Screens):
    """Goes on with reviews. It is no reason to begin a host where there is none."""

    name = "lessons"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self.ctx = ctx
        self._tidied = 0.0

    def screens(self) -> Sequence[Screen]:
        """The page of what was learned."""
        return [LearnedScreen(self.ctx)]

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            if is_on(self.ctx) and is_used(self.ctx):
                await reviewer_of(self.ctx).look()
                await self._look_after()
            await asyncio.sleep(_LOOK)

    async def _look_after(self) -> None:
        """Once in a while: judge turns that nobody said anything to, let go of what is stale, send the report."""
        if time.monotonic() - self._tidied < _DAY / 24 and self._tidied:
            return
        self._tidied = time.monotonic()
        now = await queue_of(self.ctx).now()
        for owner in await self.ctx.sessions.people():
            await settle_quiet(self.ctx, owner, now)
            await rows_of(self.ctx).tidy(owner, now - _STALE)
            await plan(self.ctx, owner)
        await self._report(now)

    async def _report(self, now: float) -> None:
        if not (target := config_of(self.ctx).report):
            return
        from hermes_tool_lessons.reporting import report

        week = time.strftime("%G-W%V", time.localtime(now))
        text = await report(self.ctx, self.ctx.owner, 7)
        said = Message(role="assistant", parts=(Text(text=text),))
        try:
            await self.ctx.messages.send(self.ctx.owner, target, said, key=f"learned:{week}")
        except HermesError as error:
            self.ctx.log.warning("the weekly report of what was learned was not sent: %s", error.text)

    async def status(self) -> str:
        """Say what waits."""
        if not is_on(self.ctx):
            return "off"
        waiting = len(await queue_of(self.ctx).open()) if is_used(self.ctx) else 0
        return f"{waiting} conversations wait for a review"


async def settle_quiet(ctx: PluginContext, owner: Principal, now: float) -> None:
    """Write down what turns came to whose person said nothing to them for a day, as far as their tests prove it."""
    from hermes_tool_lessons.hearing import proof_of

    ledger, mode = ledger_of(ctx), config_of(ctx).mode
    for turn in await ledger.since(owner, now - 8 * _DAY, "turn"):
        good, why = proof_of(turn)
        if good is not None and turn.at < now - _DAY:
            await ledger.settle(owner, turn.session, turn.turn, good=good, why=why, mode=mode)
