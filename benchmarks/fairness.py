"""Fifty people on one gateway, one of them flooding: what the others feel of it. ``fairness.py [PEOPLE] [ROUNDS]``.

Everybody but one writes, waits for the answer, reads it and writes again. The one is silent in the first stretch of a
round; in the second they begin with hundreds of ``/background`` jobs and forged presses, and go on writing without
waiting. Both stretches are in one process, and there are several rounds. The figure is the ratio of the others' 95th
percentiles, from writing to the answer, with the flood and without.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "house"))

from gateway_house import context_of
from run import model_server

from hermes_core.embed import Hermes
from hermes_core.kinds import Platform
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.gateway import Gateway

MODEL_SECONDS = 1.0
READS = float(os.environ.get("READS", "4"))  # seconds between an answer and the next message
STRETCH = float(os.environ.get("STRETCH", "20"))
JOBS, PRESSES, A_SECOND = 400, 500, 20
FLOODER = "flooder"


class Town(Platform):
    """People who write and wait, and one who does not wait."""

    name = "town"
    account = "bench"

    def __init__(self, people: int) -> None:
        self.people = people
        self.taken: list[tuple[float, float]] = []
        self.flooded = 0
        self._said: dict[str, float] = {}
        self._inbox: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._number = 0

    def write(self, chat: str, text: str = "") -> None:
        self._number += 1
        self._said[chat] = time.perf_counter()
        message = Message(role="user", parts=(Text(text=text or f"Message {self._number}."),))
        known = {"platform": "town", "account": "bench", "event_id": str(self._number), "chat": chat, "sender": chat}
        self._inbox.put_nowait(Envelope(**known, message=message))

    async def receive(self):
        starting = asyncio.create_task(self._start())
        while envelope := await self._inbox.get():
            yield envelope
        starting.cancel()

    async def _start(self) -> None:
        for number in range(self.people - 1):
            self.write(f"person{number}")
            await asyncio.sleep((MODEL_SECONDS + READS) / self.people)

    async def flood(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        for number in range(JOBS):
            self.write(FLOODER, f"/background job {number}")
        for number in range(PRESSES):
            self.write(FLOODER, f"/approve {number:012x} always")
        while time.perf_counter() < until:
            self.write(FLOODER)
            await asyncio.sleep(1 / A_SECOND)

    async def send(self, chat, message, key):
        if chat.id == FLOODER:
            self.flooded += 1
            return
        now = time.perf_counter()
        self.taken.append((self._said[chat.id], now - self._said[chat.id]))
        asyncio.get_running_loop().call_later(READS, self.write, chat.id)


def p95(took: list[float]) -> float:
    return sorted(took)[int(0.95 * (len(took) - 1))]


async def serve(url: str, home: Path, people: int) -> tuple[list[float], list[float], int]:
    """What the others waited in a quiet stretch and in the flooded one after it; how often the flooder was answered."""
    config = {
        "model.provider": "custom",
        "model.base_url": url,
        "model.default": f"echo-l{int(MODEL_SECONDS * 1000)}",
        "gateway.allow_all_users": True,
        "toolsets": ["files", "memory"],
    }
    town, stop = Town(people), asyncio.Event()
    found: list[list[float]] = []
    async with Hermes(home=home, config=config) as hermes:
        running = asyncio.create_task(Gateway(context_of(hermes), [town]).run(stop))
        await asyncio.sleep(2 * (MODEL_SECONDS + READS))
        for stretch in (asyncio.sleep, town.flood):
            began = time.perf_counter()
            await stretch(STRETCH)
            ended = time.perf_counter()
            found.append([one for at, one in town.taken if began <= at and at + one <= ended])
        stop.set()
        await running
    return found[0], found[1], town.flooded


def main() -> None:
    given = [int(word) for word in sys.argv[1:3]]
    people, rounds = (*given, *(50, 3)[len(given) :])
    quiet: list[float] = []
    flooded: list[float] = []
    told = 0
    with model_server() as url:
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                before, during, said = asyncio.run(serve(url, Path(folder), people))
            quiet, flooded, told = [*quiet, *before], [*flooded, *during], told + said
    found = {
        "quiet_p95_ms": 1000 * p95(quiet),
        "flooded_p95_ms": 1000 * p95(flooded),
        "ratio": p95(flooded) / p95(quiet),
        "answers_quiet": len(quiet),
        "answers_flooded": len(flooded),
        "said_to_flooder": told,
    }
    print("  ".join(f"{key} {value:.2f}" for key, value in found.items()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
