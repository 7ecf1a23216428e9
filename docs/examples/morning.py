"""Looks at the weather every morning, and sends it to your home chat: a service that orders turns."""

# /// hermes
# api = 1
# name = "morning"
# kind = "tool"
# summary = "Tells you the weather every morning."
#
# [contributes]
# services = ["morning"]
#
# [permissions]
# kernel = ["turns.run"]
# ///

import asyncio
from datetime import datetime, timedelta

from hermes_core import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import TurnBounds, TurnOrder

BOUNDS = TurnBounds(tools=["web"], calls=10, seconds=300)


async def look(ctx, day):
    """Order the turn of one day; whichever process does so first."""
    if past := await ctx.turns.past(f"weather {day}"):
        turn = ctx.turns.resume(past.session_id)  # a death may have cut it off
    else:
        order = TurnOrder(event=f"weather {day}", bounds=BOUNDS, deliver="all")
        turn = ctx.turns.run("What will the weather be here today?", order=order)
    async for _ in turn:
        pass


class Morning(Service):
    """Waits for seven o'clock; of all gateways that share the store, one does."""

    name = "morning"
    alone = True

    def __init__(self, ctx):
        self._ctx = ctx

    async def run(self):
        while True:
            now = datetime.now().astimezone()
            if now.hour >= 7:
                await look(self._ctx, now.date())
                now += timedelta(days=1)
            seven = now.replace(hour=7, minute=0, second=0)
            await asyncio.sleep((seven - datetime.now().astimezone()).total_seconds() + 1)


@hookimpl
def register_services(ctx):
    return [Morning(ctx)]
