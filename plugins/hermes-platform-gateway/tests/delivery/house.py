"""A whole gateway in a process that may be killed: what is written is heard, played, and answered.

The service delivers each message again until it was told that it arrived, up to five times
and in any order; what it was told, and what people see, is in files.
"""

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[4] / "tests"))
sys.path.insert(2, str(Path(__file__).parents[4] / "tests" / "house"))

from far_end import FarEnd
from gateway_house import context_of, rows_of, unplayed
from mortal import serve

from hermes_core.kinds import Provider
from hermes_core.testing.bench import Bench
from hermes_core.types import Done, Envelope, Message, Model, Text, TextDelta, Usage, UsageDelta
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.outward import attempt, rate_limiter


def hurry() -> None:
    """Let nothing wait for long, in a process of a test's own."""
    rate_limiter.LONGEST_WAIT, attempt._LAST_PAUSE = 0.02, 0.05


class Echo(Provider):
    """Answers each message with its words, slowly enough to be shown."""

    name = "echo"

    def __init__(self, asked: Path) -> None:
        self._asked = asked

    async def models(self):
        return [Model(name="echo-1", context=100_000)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        asked = [m for m in request.messages if m.role == "user"][-1].parts[0].text.strip()
        note(self._asked, asked)
        for word in f"The answer to {asked} is not a short one.".split(" "):
            yield TextDelta(text=word if word == "The" else f" {word}")
            await asyncio.sleep(0.001)
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1))
        yield Done(reason="stop")


class Wire(FarEnd):
    """The service with people on it: it delivers what was not acknowledged, again and again."""

    def __init__(self, folder: Path, events: list, *, last_ack: int = 0, **more) -> None:
        """``last_ack`` is which acknowledgement this process does not live longer than."""
        super().__init__(folder / "seen", **more)
        self._acks_left = last_ack
        self.waits = (0.005, 0.02)
        self._acked, self._events, self._told = folder / "acked", events, asyncio.Event()

    def open_events(self) -> list:
        done = set(self._acked.read_text().split()) if self._acked.exists() else set()
        return [event for event in self._events if event[0] not in done]

    async def open(self, console):
        pass

    async def receive(self):
        deliveries = [event for event in self.open_events() for _ in range(self._dice.randint(1, 5))]
        self._dice.shuffle(deliveries)
        for number, chat, text in deliveries:
            message = Message(role="user", parts=(Text(text=text),))
            yield Envelope(platform=self.name, account="bot", event_id=number, chat=chat, sender=chat, message=message)
            await asyncio.sleep(self._dice.choice((0, 0, 0.002)))
        await self._told.wait()

    async def ack(self, envelope):
        note(self._acked, envelope.event_id)
        self._acks_left -= 1
        if not self._acks_left:
            os.kill(os.getpid(), signal.SIGKILL)

    async def close(self):
        self._told.set()


def note(file: Path, line: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


async def play(order: dict) -> None:
    await asyncio.wait_for(serve_all(order), 60)


async def serve_all(order: dict) -> None:
    random.seed(order["seed"])
    folder = Path(order["folder"])
    odds = dict.fromkeys(("lost", "silent", "flood", "cut"), order["fault"])
    far = {"kind": order["kind"], "seed": order["seed"], "limit": 200, "odds": odds}
    wire = Wire(folder, order["events"], last_ack=order["last_ack"], **far)
    hermes = Bench(folder / "home")
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin(Echo(folder / "asked"), name="echo")
    hermes.configure({"gateway.allow_all_users": True, "gateway.edit_seconds": 0.002, "gateway.edit_chars": 3})
    if order["url"]:
        hermes.configure({"store.url": order["url"]})
        hermes.tmp_plugin("hermes_backend_postgresql")
    async with hermes:
        gateway, stop = Gateway(context_of(hermes), [wire]), asyncio.Event()
        running = asyncio.create_task(gateway.run(stop))
        store = await hermes.runtime.store()

        async def carried_out() -> bool:
            return not wire.open_events() and not await store.inbox.commands_waiting(wire.name, "bot")

        while not await carried_out() or await unplayed(store) or not await all_sent(store, len(order["events"])):
            if running.done():
                break
            await asyncio.sleep(0.01)
        stop.set()
        await running


async def all_sent(store, events: int) -> bool:
    counts = await rows_of(store).outbox.outbox_counts()
    waiting = sum(n for (_, _, state), n in counts.items() if state in ("draft", "waiting", "sending"))
    if waiting:
        return False
    rows = await rows_of(store).outbox.outbox_of(limit=100_000)
    return sum(row.outgoing.kind == "answer" for row in rows) >= events


def rehearsal(folder: Path) -> dict:
    own = {"folder": str(folder), "events": [("e", "anna", "one")]}
    return {"url": "", "kind": "edits", "die_at": "", "last_ack": 0, "seed": "0", "fault": 0.0, **own}


if __name__ == "__main__":
    hurry()
    serve(play, rehearsal)
