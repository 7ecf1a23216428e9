"""What slash commands ask of one chat."""

from hermes_core.errors import UserError
from hermes_core.slash import HostSide
from hermes_core.types import TurnOrder


class Side(HostSide):
    def __init__(self, ctx, origin, wanted=""):
        self.ctx, self.origin, self.wanted, self.session = ctx, origin, wanted, None

    @property
    def who(self):
        return self.ctx.owner.person

    async def take_up(self):
        if self.session is None:
            self.session = await self.ctx.turns.take_up(self.wanted, origin=self.origin)
        return self.session

    async def switch(self, session_id=""):
        self.session, self.wanted = None, session_id
        return await self.take_up()

    async def interrupt(self, session):
        return await self.ctx.turns.interrupt(session.id)

    async def working(self, session):
        return await self.ctx.turns.busy(session.id)

    async def steer(self, session, text):
        await self.ctx.turns.steer(session.id, text)
        return ""

    async def queue(self, session, text):
        await self.ctx.turns.queue(text, order=TurnOrder(session=session.id))
        return ""

    async def beside(self, session, text):
        raise UserError("Nothing is done beside a conversation here.")
