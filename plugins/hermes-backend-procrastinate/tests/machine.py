"""One process of several: a gateway that only listens and sends, or a worker that only plays.

What really happens is written into files that all share: the service's messages, and each step of each tool call.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "house"))

from attrs import frozen
from gateway_house import context_of

from hermes_atomic import processes
from hermes_core.agent import rows
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Platform, Provider, Service, tool
from hermes_core.store import leases
from hermes_core.testing import Bench
from hermes_core.types import (
    CallDelta,
    Done,
    Envelope,
    Feature,
    Message,
    Model,
    Sent,
    Text,
    TextDelta,
    ToolResult,
    TurnOrder,
)
from hermes_platform_gateway.gateway import Gateway

STEPS = 4
ORDER = json.loads(sys.argv[1])
FOLDER = Path(ORDER["folder"])


def note(*what: object) -> None:
    """Write down what happened, whole or not at all."""
    file = os.open(FOLDER / "truth", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{json.dumps([ORDER['name'], *what])}\n".encode())
    os.close(file)


@frozen
class Step:
    task: str
    number: int


@tool(touches=lambda _step: ())
async def step(step: Step) -> str:
    """Do something that takes a moment and must not happen twice."""
    note("begun", step.task, step.number)
    await asyncio.sleep(600 if step.number == ORDER["hangs"] else ORDER["seconds"])
    note("done", step.task, step.number)
    return f"step {step.number} is done"


class Stepwise(Provider):
    """Does what it is asked in four steps, one after another; it reads off the conversation how far it is."""

    name = "stepwise"

    async def models(self):
        return [Model(name="stepwise-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        asked = max(i for i, m in enumerate(request.messages) if m.role == "user")
        task = "".join(p.text for p in request.messages[asked].parts if isinstance(p, Text))
        known = [p for m in request.messages[asked:] for p in m.parts if isinstance(p, ToolResult)]
        if len(known) == STEPS:
            yield TextDelta(text=f"{task}: done")
        else:
            yield CallDelta(index=0, id=f"{task}-{len(known)}", name="step")
            yield CallDelta(index=0, arguments=json.dumps({"task": task, "number": len(known) + 1}))
        yield Done(reason="stop" if len(known) == STEPS else "tools")


class Room(Platform):
    """A service that keeps what people write until it is acknowledged, and shows a message with the same key once."""

    name = "room"
    features = frozenset({Feature.IDEMPOTENT})

    async def open(self, console):
        self.account = "bot"

    async def receive(self):
        note("listens")
        known = set()
        while True:
            for path in sorted((FOLDER / "in").iterdir()):
                if path.suffix == ".json" and path.stem not in known:
                    known.add(path.stem)
                    chat, text = json.loads(path.read_text())
                    message = Message(role="user", parts=(Text(text=text),))
                    yield Envelope(
                        platform="room", account="bot", event_id=path.stem, chat=chat, sender="anna", message=message
                    )
            await asyncio.sleep(0.02)

    async def ack(self, envelope):
        (FOLDER / "in" / f"{envelope.event_id}.json").rename(FOLDER / "in" / f"{envelope.event_id}.acked")

    async def send(self, chat, message, key):
        note("sent", chat.id, "".join(p.text for p in message.parts if isinstance(p, Text)), key)
        return Sent(chat=chat.id, message_id=key)


class Orders(Service):
    """Orders one turn, as a schedule does: on every machine, and so the same from each."""

    name = "orders"

    def __init__(self, ctx):
        self._ctx = ctx

    async def run(self):
        await self._ctx.turns.queue(ORDER["orders"], order=TurnOrder(event=ORDER["orders"]))
        note("ordered", ORDER["orders"])


@hookimpl
def register_services(ctx):
    return [Orders(ctx)]


async def main() -> None:
    if ORDER["place"]:  # as if it were another machine, where process ids say nothing
        processes.place = lambda: ORDER["place"]
        leases.LIFE, rows._BEAT = 3.0, 0.5
    hermes = Bench(FOLDER / ORDER["name"])
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin("hermes_tool_roles")
    hermes.tmp_plugin("hermes_backend_procrastinate")
    hermes.tmp_plugin("hermes_backend_postgresql")
    hermes.tmp_plugin(Stepwise(), step, name="steps")
    declared = {"contributes": {"services": ["orders"]}, "permissions": {"kernel": ["turns.run"]}}
    if ORDER["orders"]:
        hermes.tmp_plugin(register_services, name="orders", manifest=declared)
    hermes.configure(
        {
            "store.url": ORDER["url"],
            "workers": {"queue": "procrastinate", "count": ORDER["count"], "poll_seconds": 0.5},
            "backends.procrastinate": {"heartbeat_seconds": 0.25},
            "gateway.allow_all_users": True,
            "roles.strangers": "member",
            "policy.mode": "off",
        }
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with hermes:
        gateway = ORDER["name"].startswith("gateway")
        service = Gateway(context_of(hermes), [Room()] if gateway else [], work=not gateway)
        note("starts", os.getpid())
        await service.run(stop)


if __name__ == "__main__":
    asyncio.run(main())
