"""What scripts cost that call tools: ``benchmarks/scripts.py [--rounds N]``. Each beside its bare self, and walled.

The calls do nothing here, so what is measured is the way there and back. A script that makes 1,000 calls in one go is
beside the same script with a function of its own. One that makes them one by one is beside 1,000 round trips of the
bare sandbox: lines that a program behind the same wall gives back, and functions of the host that the small Python
calls by itself. The cold start is from the call to the result, with the first import of all that the tool needs, in a
process that has the kernel loaded; beside it is how long the same Python takes to import ``asyncio``, for the speed of
the machine. Rounds alternate.
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
NONE = f"def look(path): return path\nfor i in range({CALLS}): look(path=str(i))"
ONE_BY_ONE = f"from hermes_tools import look\nfor i in range({CALLS}): look(path=str(i))"
IN_ONE_GO = (
    f"from hermes_tools import call_many\nlen(call_many([('look', {{'path': str(i)}}) for i in range({CALLS})]))"
)
BARE = f"for i in range({CALLS}): look(path=str(i))"
CODES: Mapping[str, str] = {"none": NONE, "one by one": ONE_BY_ONE, "in one go": IN_ONE_GO}
BASELINES = {"in one go": ("none", "no calls"), "one by one": ("bare", "the bare sandbox")}
COLD_START = """
import asyncio, sys, time
from pathlib import Path
import hermes_core.hermes, hermes_core.agent.turns, hermes_core.store.store, sqlalchemy
from hermes_tool_python.config import Config
from hermes_tool_python.script import Script

async def none(calls): return []

async def start():
    began = time.perf_counter()
    from hermes_tool_python.fast import Fast
    fast = Fast(Path(sys.argv[1]), Config())
    await fast.start()
    ended = await fast.run(Script(code="1 + 1", tools={}, seconds=9.0), none, print)
    print((time.perf_counter() - began) * 1000)
    assert ended.value == "2"
    await fast.close()

asyncio.run(start())
"""
IMPORTING = "import time; began = time.perf_counter(); import asyncio; print((time.perf_counter() - began) * 1000)"


async def answered(calls: Any) -> list[tuple[str, bool]]:
    """What calls give that do nothing."""
    return [(given["path"], False) for _, given in calls]


async def timed(work: Any) -> float:
    """Milliseconds that a script takes."""
    began = time.perf_counter()
    ended = await work
    took = (time.perf_counter() - began) * 1000
    assert not ended.failed, (ended.error, ended.trouble)
    return took


def bare_small() -> float:
    """The small Python alone, with a function of the host."""
    from pydantic_monty import Monty

    with Monty(max_processes=1) as pool, pool.checkout(limits={"max_suspensions": 10**9}) as session:
        began = time.perf_counter()
        session.feed_run(BARE, external_lookup={"look": lambda path: path})
        return (time.perf_counter() - began) * 1000


async def bare_whole(place: Any) -> float:
    """Lines to a program behind the same wall, and back."""
    from hermes_core.types import ExecRequest

    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
    came, began = asyncio.Event(), 0.0
    process = await place.start(ExecRequest(argv=("python3", "-I", "-c", echo), on_output=lambda _: came.set()))
    for number in range(CALLS + 1):
        began = time.perf_counter() if number == 1 else began  # it has started by then
        came.clear()
        await process.write(b"x\n")
        await came.wait()
    took = (time.perf_counter() - began) * 1000
    await process.kill()
    return took


async def measured(rounds: int) -> Mapping[tuple[str, str], list[float]]:
    """Milliseconds of each round, by which Python and what it did."""
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.plan import Plan
    from hermes_backend_wall.walled import Walled
    from hermes_tool_python.choice import why_not
    from hermes_tool_python.config import Config
    from hermes_tool_python.process import Python
    from hermes_tool_python.script import Script

    times: dict[tuple[str, str], list[float]] = {}
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
        for number in range(rounds + 1):
            for name, one in runs.items():
                took = {"bare": await (bare_whole(place) if name == "whole" else asyncio.to_thread(bare_small))}
                for what, code in CODES.items():
                    script = Script(code=code, tools={"look": ["path"]}, seconds=60.0)
                    took[what] = await timed(one.run(script, answered, print))
                for what, one_time in took.items() if number else ():
                    times.setdefault((name, what), []).append(one_time)
        for one in runs.values():
            await one.close()
        await place.close()
    return times


def calls(rounds: int) -> bool:
    """Print what 1,000 calls take; whether their bound was kept."""
    times, kept = asyncio.run(measured(rounds)), True
    for name in dict.fromkeys(name for name, _ in times):
        for what, (baseline, words) in BASELINES.items():
            mine, theirs = times[name, what], times[name, baseline]
            over = statistics.median(a - b for a, b in zip(mine, theirs, strict=True))
            kept &= over <= OVER
            figures = f"{statistics.median(mine):6.1f} ms / {statistics.median(theirs):6.1f} ms"
            note = f"over {words} {over:+.1f} ms, bound {OVER:+g}{'' if over <= OVER else '   missed'}"
            print(f"{CALLS} calls {what}, {name} Python: {figures}, least {min(mine):.1f} / {min(theirs):.1f}   {note}")
    return kept


def cold(rounds: int) -> bool:
    """Print the cold start of the small Python; whether its bound was kept."""
    took, alone = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for code, kept in ((COLD_START, took), (IMPORTING, alone)):
                said = subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True).stdout
                kept.append(float(said))
    middle = statistics.median(took)
    note = f"import asyncio {statistics.median(alone):.1f} ms   bound {COLD:g}{'' if middle <= COLD else '   missed'}"
    print(f"cold start, small Python: {middle:.1f} ms, least {min(took):.1f} ms   {note}")
    return middle <= COLD


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    kept = calls(rounds)
    from hermes_tool_python.choice import why_not

    if why_not():
        print(f"no small Python here: {why_not()}")
    else:
        kept &= cold(rounds)
    raise SystemExit(0 if kept else 1)


if __name__ == "__main__":
    main()
