"""Fifty people on one gateway, one of them flooding: what the others feel of it. ``fairness.py [PEOPLE] [ROUNDS]``.

Everybody but one writes, waits for the answer, reads it and writes again. The baseline is called ``quiet``: the one is
silent. In ``flooded`` they begin with hundreds of ``/background`` jobs and forged presses, and go on writing without
waiting. A round is a pair: each of both on a gateway of its own, one after the other, in turn first. The figure is the
ratio of the others' 95th percentiles, from writing to the answer, with the flood and without; it passes up to 1.20.

Every message counts that was written in a stretch, also one that was not answered when the patience after it was over:
it waited longer than any that was, so a gateway that answers fewer looks no better. Three rounds take four minutes.
Run it while nothing else runs: at a full machine the one process of model and gateway is what is measured.
"""

import asyncio
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

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
PATIENCE = 10.0  # seconds after a stretch in which what was written in it may still be answered
MOST = 1.2  # the ratio up to which it passes
JOBS, PRESSES, A_SECOND = 400, 500, 20
FLOODER = "flooder"


class Town(Platform):
    """People who write and wait, and one who does not wait."""

    name = "town"
    account = "bench"

    def __init__(self, people: int) -> None:
        self.people = people
        self.waits: list[list[float]] = []  # of each message that others wrote: when, and how long it waited
        self.flooded = 0
        self._open: dict[str, list[float]] = {}
        self._inbox: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._number = 0

    def write(self, chat: str, text: str = "") -> None:
        self._number += 1
        if chat != FLOODER:
            self._open[chat] = [time.perf_counter(), math.inf]
            self.waits.append(self._open[chat])
        message = Message(role="user", parts=(Text(text=text or f"Message {self._number}."),))
        known = {"platform": "town", "account": "bench", "event_id": str(self._number), "chat": chat, "sender": chat}
        what: Any = "press" if text.startswith("/approve ") else "message"
        self._inbox.put_nowait(Envelope(**known, message=message, what=what))

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
        said = self._open.pop(chat.id)
        said[1] = time.perf_counter() - said[0]
        asyncio.get_running_loop().call_later(READS, self.write, chat.id)


def p95(took: list[float]) -> float:
    """The wait that 95 of a hundred do not exceed; what was never answered waited longest."""
    return sorted(took)[math.ceil(0.95 * len(took)) - 1]


async def serve(url: str, home: Path, people: int, *, flood: bool) -> tuple[list[float], int]:
    """What the others waited in one stretch, and how often the flooder was answered."""
    config = {
        "model.provider": "custom",
        "model.base_url": url,
        "model.default": f"echo-l{int(MODEL_SECONDS * 1000)}",
        "gateway.allow_all_users": True,
        "toolsets": ["files", "memory"],
    }
    town, stop = Town(people), asyncio.Event()
    async with Hermes(home=home, config=config) as hermes:
        running = asyncio.create_task(Gateway(context_of(hermes), [town]).run(stop))
        await asyncio.sleep(2 * (MODEL_SECONDS + READS))
        began = time.perf_counter()
        await (town.flood(STRETCH) if flood else asyncio.sleep(STRETCH))
        over = time.perf_counter()
        await asyncio.sleep(PATIENCE)
        waits = [wait for at, wait in town.waits if began <= at <= over]
        stop.set()
        await running
    return waits, town.flooded


def main() -> int:
    given = [int(word) for word in sys.argv[1:3]]
    people, rounds = (*given, *(50, 3)[len(given) :])
    waits: dict[bool, list[float]] = {False: [], True: []}
    ratios, told = [], 0
    with model_server() as url:
        for number in range(rounds):
            pair: dict[bool, list[float]] = {}
            for flood in (bool(number % 2), not number % 2):
                with tempfile.TemporaryDirectory() as folder:
                    pair[flood], said = asyncio.run(serve(url, Path(folder), people, flood=flood))
                told += said
                waits[flood] += pair[flood]
            ratios.append(p95(pair[True]) / p95(pair[False]))
    quiet, flooded = waits[False], waits[True]
    ratio = p95(flooded) / p95(quiet)
    found = {
        "baseline": "quiet",
        "quiet_p95_ms": round(1000 * p95(quiet), 1),
        "flooded_p95_ms": round(1000 * p95(flooded), 1),
        "ratio": round(ratio, 3),
        "ratios": [round(one, 3) for one in ratios],
        "written_quiet": len(quiet),
        "written_flooded": len(flooded),
        "unanswered_quiet": quiet.count(math.inf),
        "unanswered_flooded": flooded.count(math.inf),
        "said_to_flooder": told,
        "passes": ratio <= MOST,
    }
    print("  ".join(f"{key} {value}" for key, value in found.items()))
    print(json.dumps(found))
    return 0 if found["passes"] else 1


if __name__ == "__main__":
    sys.exit(main())
