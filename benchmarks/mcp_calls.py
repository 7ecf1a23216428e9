"""What Hermes adds to a call of an MCP server, beside the bare SDK: ``benchmarks/mcp_calls.py [--rounds N]``.

Both call one small server over stdio, in turn. The second row is twenty servers that are connected to at once, beside
one; it is bounded by how many processors start their programs. The third is the same of servers that wait a second as
they start, as those do that fetch something: it says whether they are waited for side by side. CPU time is that of this
process.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/hermes-tool-mcp"))

from mcp import Client, StdioServerParameters

from tests.conftest import ODD, Servers, odd

CALLS = 40


async def timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """How many milliseconds one call takes, by the clock and of this process."""
    clock, cpu = time.perf_counter(), time.process_time()
    for _ in range(CALLS):
        await call()
    return (time.perf_counter() - clock) / CALLS * 1e3, (time.process_time() - cpu) / CALLS * 1e3


async def calls(home: Path, rounds: int, *, wall: bool) -> None:
    """Measure calls, and print."""
    there = Servers(home, {"odd": odd(wall=wall, timeout=60.0, connect_timeout=60.0)})
    connection, context = there.connection(), there.context()
    await connection.client()
    bare: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    async with Client(StdioServerParameters(command=sys.executable, args=[str(ODD)])) as client:
        for _ in range(rounds):
            bare.append(await timed(lambda: client.call_tool("echo", {"text": "x"})))
            ours.append(await timed(lambda: connection.call("echo", {"text": "x"}, context)))
    await there.close()
    (clock, cpu), (bare_clock, bare_cpu) = (map(statistics.median, zip(*one, strict=True)) for one in (ours, bare))
    print(f"a call {'behind the wall' if wall else 'without a wall '}: + {clock - bare_clock:.2f} ms by the clock,")
    print(f"  + {cpu - bare_cpu:.2f} ms of CPU, to {bare_clock:.2f} and {bare_cpu:.2f} of the bare SDK")


async def connected(home: Path, count: int, *words: str) -> float:
    """How many seconds it takes to connect to so many servers."""
    there = Servers(home, {f"s{n}": odd(*words, timeout=60.0, connect_timeout=60.0) for n in range(count)})
    began = time.perf_counter()
    await asyncio.gather(*(there.connection(f"s{n}").client() for n in range(count)))
    took = time.perf_counter() - began
    await there.close()
    return took


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        for wall in (False, True):
            await calls(Path(folder, str(wall)), rounds, wall=wall)
        pairs = [(await connected(Path(folder, "one"), 1), await connected(Path(folder, "many"), 20)) for _ in range(5)]
        slow = ("--when", "start", "--do", "slow")
        waits = [
            (await connected(Path(folder, "slow"), 1, *slow), await connected(Path(folder, "slower"), 20, *slow))
            for _ in range(3)
        ]
    for what, found in (("servers", pairs), ("servers that wait a second as they start", waits)):
        print(f"twenty {what} connect in {statistics.median(many / one for one, many in found):.2f} × one")


if __name__ == "__main__":
    asyncio.run(main())
