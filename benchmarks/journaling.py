"""What writing every step down costs: ``journaling.py [--turns 300] [--calls 5]``.

The same scripted turn is played with the store and with a double that keeps nothing, by turns, in one process. Every
call of the store is a step. Prints the milliseconds of a step with the one and with the other (median and p99), and
of whole turns; exits with 1 when the median step costs more than 1 ms.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from hermes_core.errors import UnknownName
from hermes_core.kinds import tool
from hermes_core.store.leases import Turn
from hermes_core.store.store import Store
from hermes_core.testing import Bench, Call, ScriptedProvider
from hermes_core.types import Ended, Message

BOUND = 1.0  # ms
TEXT = "a result of some length, as tools give. " * 30


@tool(touches=lambda _: ())
async def step() -> str:
    """Do next to nothing."""
    return TEXT


class Nothing:
    """A store that keeps what was said in memory only."""

    def __init__(self) -> None:
        self._said: dict[str, list[Message]] = defaultdict(list)

    async def session(self, session_id: str, _owner: object) -> None:
        raise UnknownName("session", session_id)

    async def history(self, session_id: str) -> list[Message]:
        return list(self._said[session_id])

    async def open_turn(self, session_id: str, message: Message, *, turn_id: str, holder: str, **_: object) -> Turn:
        self._said[session_id].append(message)
        return Turn(id=turn_id, session_id=session_id, holder=holder, fence=1)

    async def add_reply(self, turn: Turn, message: Message, *_: object, **__: object) -> int:
        self._said[turn.session_id].append(message)
        return 1

    async def finish_call(self, turn: Turn, _call: object, result: Any, **_: object) -> int:
        self._said[turn.session_id].append(Message(role="tool", parts=(result,)))
        return 1

    async def start_call(self, *_: object, **__: object) -> int:
        return 0

    def close(self) -> None:
        """Nothing to close."""

    def __getattr__(self, name: str) -> Any:
        found = get_type_hints(getattr(Store, name)).get("return")
        kind = get_origin(found) or found

        async def nothing(*_: object, **__: object) -> object:
            return kind() if kind in (int, list, set, dict, tuple) else None

        return nothing


class Timed:
    """A store, and how long each of its calls took."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.times: dict[str, list[float]] = defaultdict(list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(found):
            return found

        async def timed(*args: object, **kwargs: object) -> object:
            began = time.perf_counter()
            try:
                return await found(*args, **kwargs)
            finally:
                self.times[name].append((time.perf_counter() - began) * 1000)

        return timed


async def make(folder: Path, calls: int, turns: int, store: object | None) -> tuple[Bench, Timed]:
    """A kernel that plays the script, with the real store or the double."""
    bench = Bench(folder / "home")
    script = [[Call("step") for _ in range(1)] for _ in range(calls)]
    bench.tmp_plugin(ScriptedProvider([word for _ in range(turns) for word in (*script, "done")]))
    bench.tmp_plugin(step)
    timed = Timed(store or await bench.runtime.store())

    async def given() -> Timed:
        return timed

    bench.runtime._store = asyncio.create_task(given())  # type: ignore[assignment]
    return bench, timed


async def one(bench: Bench, session: str) -> float:
    """Milliseconds of one turn."""
    began = time.perf_counter()
    async for event in bench.turn("go", session=session):
        if isinstance(event, Ended) and event.reason != "done":
            raise RuntimeError(f"the turn ended {event.reason}")
    return (time.perf_counter() - began) * 1000


def told(times: Sequence[float]) -> dict[str, float]:
    """Median and p99."""
    ordered = sorted(times)
    return {"median": round(statistics.median(ordered), 3), "p99": round(ordered[int(len(ordered) * 0.99)], 3)}


async def main() -> int:
    """Measure and judge."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--turns", type=int, default=300)
    options.add_argument("--calls", type=int, default=5, help="tool calls of a turn, one a reply")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours, with_store = await make(Path(folder) / "ours", chosen.calls, chosen.turns, None)
        other, without = await make(Path(folder) / "other", chosen.calls, chosen.turns, Nothing())
        turns: dict[str, list[float]] = {"with": [], "without": []}
        for turn in range(chosen.turns):
            session = f"s{turn // 10}"  # ten turns to a session
            turns["with"].append(await one(ours, session))
            turns["without"].append(await one(other, session))
        await ours.close()
        await other.close()
    steps = {"with": [t for ts in with_store.times.values() for t in ts]}
    steps["without"] = [t for ts in without.times.values() for t in ts]
    cost = {name: round(told(steps["with"])[name] - told(steps["without"])[name], 3) for name in ("median", "p99")}
    report = {
        "steps_per_turn": round(len(steps["with"]) / chosen.turns, 1),
        "ms_per_step": {**{name: told(times) for name, times in steps.items()}, "cost": cost},
        "ms_per_turn": {name: told(times) for name, times in turns.items()},
        "ms_by_step": {name: told(times) for name, times in sorted(with_store.times.items())},
    }
    print(json.dumps(report, indent=1))
    return 0 if cost["median"] <= BOUND else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
