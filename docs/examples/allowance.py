"""Gives each guest fifty thousand tokens in a session; the owner has no limit."""

# /// hermes
# api = 1
# name = "allowance"
# kind = "tool"
# summary = "Gives each guest fifty thousand tokens in a session."
#
# [contributes]
# purses = ["allowance"]
#
# [permissions]
# kernel = ["sessions.read"]
# ///

from math import inf

from hermes_core import hookimpl
from hermes_core.errors import BudgetReached
from hermes_core.kinds import Purse

TOKENS = 50_000


class Allowance(Purse):
    name = "allowance"

    def __init__(self, ctx):
        self.ctx = ctx

    async def check(self, session, spent, unbooked, *, last):
        if await self.rest(session, unbooked.input + unbooked.output) <= 0:
            raise BudgetReached("Your tokens are used up.", hint="Begin a new conversation.")
        return inf  # seconds for the next request

    async def left(self, session):
        return {"allowance.tokens": max(0, await self.rest(session))}

    async def rest(self, session, unbooked=0):
        if session.owner == self.ctx.owner:
            return inf
        used = (await self.ctx.sessions.spent(session.owner, session_id=session.id)).usage
        return TOKENS - used.input - used.output - unbooked


@hookimpl
def register_purses(ctx):
    return [Allowance(ctx)]
