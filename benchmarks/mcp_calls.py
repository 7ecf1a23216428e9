"""What Hermes adds to a call of an MCP server, beside the bare SDK: ``benchmarks/mcp_calls.py [--rounds N]``.

Both call one small server over stdio, in turn: first the connection alone, then a whole turn, from the end of a reply
that calls a tool to the request that says what came of it. Then twenty servers that are known, as they are from the
second start on: how long ``hermes -z`` takes in a home that has them, beside one and beside none; none is started.

The next row is twenty servers that are connected to at once, beside one, as when nobody ever asked them; it is bounded
by how many processors start their programs, so the bare SDK does the same in turn, and the row says what it takes for
that, too. The last is the same of servers that wait a second as they start, as those do that fetch something: it says
whether they are waited for side by side. CPU time is that of this process.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/hermes-tool-mcp"))

from mcp import Client, StdioServerParameters

from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Delta, Request, Returned
from hermes_core.values import frozen
from hermes_tool_mcp.lists import Lists
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


class Between(ScriptedProvider):
    """Says how long it takes from the end of each reply to the next request: milliseconds by the clock and of CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.took: list[tuple[float, float]] = []
        self._ended: tuple[float, float] | None = None

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Note when it is asked, and when it has said all."""
        clock, cpu = time.perf_counter(), time.process_time()
        if self._ended is not None:
            self.took.append(((clock - self._ended[0]) * 1e3, (cpu - self._ended[1]) * 1e3))
        said = [delta async for delta in super().stream(request)]
        self._ended = time.perf_counter(), time.process_time()
        for delta in said:
            yield delta


async def through_turns(home: Path, rounds: int, *, wall: bool) -> None:
    """Measure calls in whole turns of a kernel, beside those of a tool that does nothing, and print."""
    row, provider = odd(wall=wall, timeout=60.0, connect_timeout=60.0), Between()
    await known(home, {"odd": row})
    hermes = kernel(home, {"odd": row}, provider, nothing)
    bare: list[tuple[float, float]] = []
    ours: dict[str, list[tuple[float, float]]] = {"mcp__odd__echo": [], "nothing": []}
    async with Client(StdioServerParameters(command=sys.executable, args=[str(ODD)])) as client:
        for number in range(rounds + 1):
            for name, found in ours.items():
                provider.add(*[Call(name, {"text": "x"})] * CALLS, "done")
                provider.took.clear()
                async for event in hermes.turn("go", session=f"{name}{number}"):
                    assert not isinstance(event, Returned) or not event.result.failed
                clocks, cpus = zip(*provider.took[-CALLS:], strict=True)
                if number:  # the first one starts its server
                    found.append((statistics.median(clocks), statistics.median(cpus)))
            bare += [await timed(lambda: client.call_tool("echo", {"text": "x"}))] if number else []
    await hermes.close()
    print(f"a call in a turn {'behind the wall' if wall else 'without a wall '}:")
    for words, less in (("to the bare SDK", bare), ("to a tool that does nothing and the bare SDK", ours["nothing"])):
        beside = [bare, less] if less is not bare else [bare]
        rows = zip(ours["mcp__odd__echo"], *beside, strict=True)
        clock, cpu = (statistics.median(x) for x in zip(*((_left(row, 0), _left(row, 1)) for row in rows), strict=True))
        print(f"  + {clock:.2f} ms by the clock, + {cpu:.2f} ms of CPU, {words}")


def _left(row: Sequence[tuple[float, float]], n: int) -> float:
    """What is left of the first when the others are taken from it."""
    return row[0][n] - sum(one[n] for one in row[1:])


@frozen
class Words:
    """What is said to the tool that does nothing."""

    text: str


@tool(idempotent=True)
async def nothing(said: Words) -> str:
    """Do nothing."""
    return said.text


def kernel(home: Path, rows: dict[str, Any], *things: object) -> Bench:
    """Return a kernel with these servers, and with these things."""
    hermes = Bench(home)
    for thing in things:
        hermes.tmp_plugin(thing)
    hermes.tmp_plugin("hermes_tool_mcp")
    hermes.configure({"mcp.servers": rows})
    return hermes


async def known(home: Path, rows: dict[str, Any]) -> None:
    """Have servers asked what they have, once."""
    for name, row in rows.items():
        there = Servers(home.with_name(f"{home.name}-asked"), {name: row})
        await there.connection(name).client()
        listed = there.pool.lists.get(name, there.rows[name])
        assert listed is not None
        Lists(home / "data" / "tool-mcp").put(name, listed)
        await there.close()


async def ready(home: Path) -> tuple[float, float]:
    """How many seconds ``hermes -z`` takes there, by the clock and of CPU, with what it starts."""
    env = {**os.environ, "HERMES_HOME": str(home)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_core", "-z", "hello"), cwd=home.parent, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() == 0
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def all_ready(folder: Path, rounds: int) -> None:
    """Measure how servers that are known make the begin of a conversation longer, and print."""
    rows = {f"s{n}": odd() for n in range(20)}
    homes = {many: Path(folder, f"ready{many}") for many in (0, 1, 20)}
    for many, home in homes.items():
        some = dict(list(rows.items())[:many])
        await known(home, some)
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(json.dumps({"mcp": {"servers": some}}))  # JSON is YAML, too
        words = [sys.executable, "-m", "hermes_core", "plugins", "enable", "mcp", "--yes"]
        await asyncio.to_thread(
            subprocess.run, words, env={**os.environ, "HERMES_HOME": str(home)}, check=True, capture_output=True
        )
    took: dict[int, list[tuple[float, float]]] = {many: [] for many in homes}
    for number in range(rounds + 1):
        for many, home in homes.items():
            one = await ready(home)
            took[many] += [one] if number else []
    for many, beside in ((1, "one"), (0, "none")):
        clock, cpu = (statistics.median(a[n] / b[n] for a, b in zip(took[20], took[many], strict=True)) for n in (0, 1))
        print(f"twenty servers that are known are ready in {clock:.3f} × {beside}, {cpu:.3f} × its CPU")


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
            await through_turns(Path(folder, f"turns{wall}", "home"), rounds, wall=wall)
        await all_ready(Path(folder), rounds)
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
