"""Orders a turn every Monday that writes the notes of the week, and asks in your home chat before it pushes them."""

# /// hermes
# api = 1
# name = "weekly"
# kind = "tool"
# summary = "Writes the notes of the week, and asks before it pushes them."
#
# [contributes]
# services = ["weekly"]
#
# [permissions]
# kernel = ["turns.run", "approvals.settle"]
# ///

import asyncio
from datetime import datetime, timedelta

from hermes_core import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import TurnBounds, TurnOrder

TASK = "Write what changed in this repository this week into NOTES.md, commit it and push it."
BOUNDS = TurnBounds(tools=["files", "terminal"], grants=["terminal(git commit*)"], calls=30)


async def order(ctx, week):
    """Order the turn of one week, once; the gateway plays it, and waits for the yes to whatever needs one."""
    wanted = TurnOrder(event=f"notes {week}", bounds=BOUNDS, hidden=True, ask="all", deliver="all")
    await ctx.turns.queue(TASK, order=wanted)


class Weekly(Service):
    """Waits for the next week; of all gateways that share the store, one does."""

    name = "weekly"
    alone = True

    def __init__(self, ctx):
        self._ctx = ctx

    async def run(self):
        while True:
            now = datetime.now().astimezone()
            await order(self._ctx, f"{now:%G-%V}")
            monday = now.date() + timedelta(days=7 - now.weekday())
            next_week = datetime(monday.year, monday.month, monday.day).astimezone()
            await asyncio.sleep((next_week - now).total_seconds() + 1)


@hookimpl
def register_services(ctx):
    return [Weekly(ctx)]
