"""What scripts cost that call tools: ``benchmarks/scripts.py [--rounds N]``. Behind the wall, each beside its bare self.

The calls themselves do nothing here, so what is measured is the way there and back: a script that makes 1,000 calls of
a tool, one by one and in one go, beside the same script with a function of its own. In the small Python the baseline
calls a function of the host, as the sandbox alone does it. The cold start is from the call to the result, with the
first import of everything the tool needs, in a process that has the kernel loaded. Rounds alternate.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CALLS = 1_000
OVER, COLD = 100.0, 40.0  # milliseconds: 1,000 calls over the bare sandbox; a cold start in the small Python
BARE = f"def look(path): return path\nfor i in range({CALLS}): look(path=str(i))"
ONE_BY_ONE = f"from hermes_tools import look\nfor i in range({CALLS}): look(path=str(i))"
IN_ONE_GO = f"from hermes_tools import call_many\nlen(call_many([('look', {{'path': str(i)}}) for i in range({CALLS})]))"
BARE_HOST = f"for i in range({CALLS}): look(path=str(i))"


async def none(_text: str) -> None:
    """Nobody watches."""


async def answered(calls: Any) -> list[tuple[str, bool]]:
    """What calls give that do nothing."""
    return [(given["path"], False) for _, given in calls]


async def timed(work: Any) -> float:
    """Milliseconds that something awaitable takes."""
    began = time.perf_counter()
    ended = await work
    took = (time.perf_counter() - began) * 1000
    assert not ended.failed, (ended.error, ended.trouble)
    return took


def bare_small(rounds: int) -> list[float]:
    """The sandbox alone, with a function of the host."""
    from pydantic_monty import Monty

    took = []
    with Monty(max_processes=1) as pool, pool.checkout(limits={"max_suspensions": 10**9}) as session:
        for _ in range(rounds):
            began = time.perf_counter()
            session.feed_run(BARE_HOST, external_lookup={"look": lambda path: path})
            took.append((time.perf_counter() - began) * 1000)
    return took


async def measure(rounds: int) -> bool:
    """Print the table; whether the bounds were kept."""
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.plan import Plan
    from hermes_backend_wall.walled import Walled
    from hermes_tool_python.choice import why_not
    from hermes_tool_python.config import Config
    from hermes_tool_python.process import Python
    from hermes_tool_python.script import Script

    def script(code: str) -> Script:
        return Script(code=code, tools={"look": ["path"]}, seconds=60.0)

    kept, times = True, dict[tuple[str, str], list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        place = Here(str(work), walled=Walled(str(work), Plan(homes=Path(folder) / "homes")))
        runs: dict[str, Any] = {"whole": Python(place, Config())}
        if not why_not():
            from hermes_tool_python.fast import Fast

            runs["small"] = Fast(Path(folder) / "data", Config())
        for one in runs.values():
            await one.start()
        codes: Mapping[str, str] = {"bare": BARE, "one by one": ONE_BY_ONE, "in one go": IN_ONE_GO}
        for number in range(rounds + 1):
            for name, one in runs.items():
                for what, code in codes.items():
                    if name == "small" and what == "bare":
                        took = (await asyncio.to_thread(bare_small, 1))[0]
                    else:
                        took = await timed(one.run(script(code), answered, lambda _: None))
                    if number:
                        times.setdefault((name, what), []).append(took)
        for one in runs.values():
            await one.close()
        await place.close()
    for name in runs:
        bare = statistics.median(times[name, "bare"])
        for what in ("one by one", "in one go"):
            over = statistics.median(a - b for a, b in zip(times[name, what], times[name, "bare"], strict=True))
            missed = over > OVER
            kept &= not missed
            note = "   missed" if missed else ""
            print(f"{CALLS} calls, {name} Python, {what:10}  bare {bare:6.1f} ms   over it {over:+7.1f} ms   bound +{OVER:g}{note}")
    return kept


COLD_START = """
import asyncio, sys, time
from pathlib import Path
import hermes_core.hermes, hermes_core.agent.turns, hermes_core.store.store, sqlalchemy
from hermes_tool_python.config import Config
from hermes_tool_python.script import Script

async def none(calls): return []

async def main():
    began = time.perf_counter()
    from hermes_tool_python.fast import Fast
    fast = Fast(Path(sys.argv[1]), Config())
    await fast.start()
    ended = await fast.run(Script(code="1 + 1", tools={}, seconds=9.0), none, print)
    print((time.perf_counter() - began) * 1000)
    assert ended.value == "2"
    await fast.close()

asyncio.run(main())
"""


def cold(rounds: int) -> bool:
    """Print the cold start of the small Python; whether its bound was kept."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", COLD_START, folder]
        took = [float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(rounds)]
    middle = statistics.median(took)
    missed = middle > COLD
    print(f"cold start, small Python: {middle:.1f} ms, least {min(took):.1f} ms   bound {COLD:g}{'   missed' if missed else ''}")
    return not missed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    kept = asyncio.run(measure(rounds))
    from hermes_tool_python.choice import why_not

    if why_not():
        print(f"no small Python here: {why_not()}")
    else:
        kept &= cold(rounds)
    raise SystemExit(0 if kept else 1)


if __name__ == "__main__":
    main()
