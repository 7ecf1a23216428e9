"""Drives a console: carries what people say on a platform to Hermes, and back what came of it, one after another."""

from hermes_core import hookimpl
from hermes_core.errors import HermesError
from hermes_core.kinds import Console, ConsoleDriver
from hermes_core.types import Chat, Text, TurnOrder

from .shown import carry, say
from .side import Side


class Intercom(ConsoleDriver):
    name = "intercom"

    def __init__(self, ctx):
        self.ctx = ctx

    async def serve(self, platform, session, require):
        slash, sides = self.ctx.slash.commands("terminal", platform.commands()), {}
        await platform.open(Console(tuple(slash.table.values())))
        try:
            async for envelope in platform.receive():
                if envelope.chat not in sides:
                    sides[envelope.chat] = Side(self.ctx, platform.name, "" if sides else session)
                await self.hear(platform, slash, sides[envelope.chat], envelope)
        finally:
            await platform.close()

    async def hear(self, platform, slash, side, envelope):
        """See to one message, and to what it lets wait."""
        chat = Chat(envelope.chat, envelope.thread)
        said = "".join(part.text for part in envelope.message.parts if isinstance(part, Text)).strip()

        async def ask(question):
            return await platform.ask(chat, question)

        async def ack(_session):
            await platform.ack(envelope)

        try:
            if said.startswith("/"):
                await platform.ack(envelope)
                name, _, rest = said[1:].partition(" ")
                answer = await slash.run(side, name.casefold(), rest.strip())
                await say(platform, chat, answer, envelope.event_id)
            else:
                order = TurnOrder(session=(await side.take_up()).id)
                await carry(platform, chat, self.ctx.turns.run(envelope, order=order, ask=ask, stored=ack))
            session = await side.take_up()
            while await carry(platform, chat, self.ctx.turns.resume(session.id, ask=ask)):
                pass  # what a death cut off, and what a command let wait
        except HermesError as error:
            await say(platform, chat, str(error), f"{envelope.event_id}:failed")


@hookimpl
def register_consoles(ctx):
    return [Intercom(ctx)]
