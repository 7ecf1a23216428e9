"""Two hundred chats at once on one gateway: what it adds to the model's own time. ``gateway.py [CHATS] [SECONDS]``.

Every chat writes, waits for its answer and writes again, so the load follows the gateway. They begin spread over one
answer's time; ``LOCKSTEP=1`` lets all two hundred write in the same instant, again and again. The model answers after a
fixed time; what is beyond it is ours: the way in, the turn with every step committed, the way out. The baseline, in the
same run, is one bare streaming request to the same server by each chat, again and again, with the HTTP client that the
provider uses.
"""

import asyncio
import json
import os
import resource
import statistics
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
WARM = 3.0


class Load(Platform):
    """So many people who do nothing but write and wait."""

    name = "load"
    account = "bench"

    def __init__(self, chats: int, spread: float = MODEL_SECONDS) -> None:
        self.chats, self.spread = chats, spread
        self.taken: list[tuple[float, float]] = []
        self._said: dict[str, float] = {}
        self._inbox: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._number = 0

    def write(self, chat: str) -> None:
        self._number += 1
        self._said[chat] = time.perf_counter()
        message = Message(role="user", parts=(Text(text=f"Message {self._number}."),))
        known = {"platform": "load", "account": "bench", "event_id": str(self._number), "chat": chat, "sender": chat}
        self._inbox.put_nowait(Envelope(**known, message=message))

    async def receive(self):
        starting = asyncio.create_task(self._start())
        while envelope := await self._inbox.get():
            yield envelope
        starting.cancel()

    async def _start(self) -> None:
        """All begin within one answer's time: else they would go on writing in the same instant for ever."""
        for number in range(self.chats):
            self.write(f"chat{number}")
            await asyncio.sleep(self.spread / self.chats)

    async def send(self, chat, message, key):
        now = time.perf_counter()
        self.taken.append((now, now - self._said[chat.id]))
        asyncio.get_running_loop().call_later(0.001, self.write, chat.id)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def serve(url: str, home: Path, chats: int, seconds: float) -> dict[str, float]:
    config = {
        "model.provider": "custom",
        "model.base_url": url,
        "model.default": f"echo-l{int(MODEL_SECONDS * 1000)}",
        "gateway.allow_all_users": True,
        "toolsets": ["files", "memory"],
    }
    platform, stop = Load(chats, 0.0 if os.environ.get("LOCKSTEP") else MODEL_SECONDS), asyncio.Event()
    async with Hermes(home=home, config=config) as hermes:
        gateway = Gateway(context_of(hermes), [platform])
        running = asyncio.create_task(gateway.run(stop))
        await asyncio.sleep(WARM + MODEL_SECONDS)
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        ended = time.perf_counter()
        used = (time.process_time() - cpu) / seconds
        stop.set()
        await running
    took = [took for at, took in platform.taken if began <= at <= ended]
    return figures(took, ended - began) | {"cpu": used, "peak_mb": peak()}


def figures(took: list[float], span: float) -> dict[str, float]:
    added = sorted(1000 * (one - MODEL_SECONDS) for one in took)
    return {
        "turns_per_second": len(took) / span,
        "added_p50_ms": statistics.median(added),
        "added_p99_ms": added[int(0.99 * (len(added) - 1))],
    }


async def bare(url: str, chats: int, seconds: float) -> dict[str, float]:
    import httpx2 as httpx

    took: list[tuple[float, float]] = []
    body = {"model": f"echo-l{int(MODEL_SECONDS * 1000)}", "stream": True}
    body["messages"] = [{"role": "user", "content": "Hello."}]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)

    async def talk(client: httpx.AsyncClient) -> None:
        while True:
            began = time.perf_counter()
            async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
                async for _ in response.aiter_lines():
                    pass
            took.append((time.perf_counter(), time.perf_counter() - began))

    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        tasks = [asyncio.create_task(talk(client)) for _ in range(chats)]
        await asyncio.sleep(WARM + MODEL_SECONDS)
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        ended = time.perf_counter()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return figures([one for at, one in took if began <= at <= ended], ended - began)


def main() -> None:
    given = [float(word) for word in sys.argv[1:3]]
    chats, seconds = (*given, *(200.0, 15.0)[len(given) :])
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        if os.environ.get("PROFILE"):
            import cProfile

            profile = cProfile.Profile()
            profile.enable()
        ours = asyncio.run(serve(url, Path(folder), int(chats), seconds))
        if os.environ.get("PROFILE"):
            profile.disable()
            profile.dump_stats(os.environ["PROFILE"])
        base = asyncio.run(bare(url, int(chats), seconds))
    for name, row in (("gateway", ours), ("bare requests", base)):
        print(f"{name:<14}", "  ".join(f"{key} {value:.1f}" for key, value in row.items()))
    print(json.dumps({"gateway": ours, "bare": base}))


if __name__ == "__main__":
    main()
