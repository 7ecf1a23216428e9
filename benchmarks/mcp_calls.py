"""What Hermes adds to a call of an MCP server, beside the bare SDK: ``benchmarks/mcp_calls.py [--rounds N]``.

Both call one small server over stdio, in turn. The second row is twenty servers that are connected to at once, beside
one; it is bounded by how many processors start their programs, so the bare SDK does the same in turn, and the row says
what it takes for that, too. The third is the same of servers that wait a second as they start, as those do that fetch
something: it says whether they are waited for side by side. CPU time is that of this process.
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


async def bare_connected(count: int) -> float:
    """How many seconds the bare SDK takes to connect to so many servers, and to ask for what Hermes asks for."""
    left, over = [count], asyncio.Event()

    async def one() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=[str(ODD)])) as client:
            await client.list_tools()
            await client.list_prompts()
            left[0] -= 1
            if not left[0]:
                over.set()
            await over.wait()

    began = time.perf_counter()
    tasks = [asyncio.ensure_future(one()) for _ in range(count)]
    await over.wait()
    took = time.perf_counter() - began
    await asyncio.gather(*tasks)
    return took


async def connected(home: Path, count: int, *words: str, wall: bool = False) -> float:
    """How many seconds it takes to connect to so many servers."""
    there = Servers(home, {f"s{n}": odd(*words, timeout=60.0, connect_timeout=60.0, wall=wall) for n in range(count)})
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
        pairs: dict[str, list[tuple[float, float, float]]] = {"": [], " behind the wall": []}
        for _ in range(5):
            bare = await bare_connected(20)
            for where, found in pairs.items():
                place = Path(folder, f"of{where}")
                one = await connected(place, 1, wall=bool(where))
                found.append((one, await connected(place, 20, wall=bool(where)), bare))
        slow = ("--when", "start", "--do", "slow")
        waits = [
            (await connected(Path(folder, "slow"), 1, *slow), await connected(Path(folder, "slower"), 20, *slow))
            for _ in range(3)
        ]
    for where, rows in pairs.items():
        to_one, to_bare = (statistics.median(row[1] / row[n] for row in rows) for n in (0, 2))
        print(f"twenty servers{where} connect in {to_one:.2f} × one, {to_bare:.2f} × twenty of the bare SDK")
    told = statistics.median(many / one for one, many in waits)
    print(f"twenty servers that wait a second as they start connect in {told:.2f} × one")


if __name__ == "__main__":
    asyncio.run(main())
