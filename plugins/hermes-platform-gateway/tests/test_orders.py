"""What plugins order with ``ctx.turns.queue`` is played by the gateway: nobody else would."""

import asyncio

from gateway_house import context_of, rows_of

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import TurnOrder
from hermes_platform_gateway.gateway import Gateway


class Order(Service):
    """Orders one turn, and is done."""

    name = "order"

    def __init__(self, ctx):
        self._ctx = ctx

    async def run(self):
        await self._ctx.turns.queue("look", order=TurnOrder(event="today"))


@hookimpl
def register_services(ctx):
    return [Order(ctx)]


async def test_a_queued_turn_is_played_and_answered_nowhere(hermes, scripted):
    hermes.configure({"workers.poll_seconds": 0.05})
    hermes.tmp_plugin(scripted("It rains."))
    declared = {"contributes": {"services": ["order"]}, "permissions": {"kernel": ["turns.run"]}}
    hermes.tmp_plugin(register_services, name="weather", manifest=declared)
    stop, context = asyncio.Event(), context_of(hermes)
    running = asyncio.create_task(Gateway(context, []).run(stop))
    store = await hermes.runtime.store()
    async with asyncio.timeout(20):
        while not (found := await store.sessions.list(hermes.runtime.owner)) or found[0].state != "idle":
            await asyncio.sleep(0.02)
        while len(said := await store.history.load(found[0].session.id)) < 2:
            await asyncio.sleep(0.02)
    stop.set()
    await running
    assert ["".join(p.text for p in m.parts) for m in said] == ["look", "It rains."]
    assert not await rows_of(hermes).outbox.outbox_counts()
