"""What a child agent costs: call to first request, memory, eight at once. ``children.py [ROUNDS]``.

The child speaks HTTP to the scripted model server, with the default tools. Its peak memory is what the system says of
the process, read while its request waits.
"""

import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from run import model_server, notes

from hermes_core.agent.route.choice import Route
from hermes_core.distribution import HERMES
from hermes_core.embed import Hermes
from hermes_core.kinds import Provider, ToolContext, tool
from hermes_core.types import CallDelta, ChildTask, Done, Effect, Model, TextDelta

SLOW = "echo-l700"  # the model takes its time, so that the child can be looked at


class Driver(Provider):
    """The parent's model: calls ``fan``, then ends."""

    name = "driver"

    async def models(self):
        return [Model(name="driver-1")]

    async def stream(self, request):
        if request.messages[-1].role == "tool":
            yield TextDelta(text="done")
        else:
            count = json.dumps({"count": int(request.messages[-1].parts[0].text)})
            yield CallDelta(index=0, id="1", name="fan", arguments=count)
        yield Done(reason="stop" if request.messages[-1].role == "tool" else "tools")


@frozen
class Fan:
    """How many."""

    count: int


SEEN: list[tuple[float, list[float]]] = []


def peaks() -> list[float]:
    """Peak memory in MB of the processes below this one."""
    found = []
    for path in Path("/proc/self/task").glob("*/children"):
        for pid in path.read_text().split():
            with suppress(OSError, IndexError):  # it has just ended
                status = Path(f"/proc/{pid}/status").read_text()
                if "hermes_core.child" in Path(f"/proc/{pid}/cmdline").read_text():
                    found.append(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
    return found


@tool(toolset="bench", effects={Effect.DELEGATE}, touches=lambda _: ())
async def fan(context: ToolContext, wanted: Fan) -> str:
    """Start children."""
    began, tops = time.perf_counter(), [0.0]
    tasks = [context.child(ChildTask(goal=f"say hello {n}", model=f"custom:{SLOW}")) for n in range(wanted.count)]
    work = asyncio.gather(*tasks)
    while not work.done():
        tops = max(tops, peaks(), key=sum)
        await asyncio.sleep(0.02)
    assert all(result.status == "done" for result in await work), await work
    SEEN.append((began, tops))
    return "ok"


async def measure(url: str, home: Path, count: int, rounds: int) -> None:
    """Print the medians for so many children at once."""
    config = {"providers.custom.base_url": url, "providers.custom.api_key": "x", "terminal.cwd": str(home)}
    firsts, lasts, tops, spent = [], [], [], []
    async with Hermes(HERMES, home=home, config=config, tools=[fan]) as hermes:
        hermes.runtime.route = Route(name="driver", provider=Driver(), model="driver-1")
        for _ in range(rounds + 1):  # the first one fills caches
            notes(url)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            async for _event in hermes.turn(str(count)):
                pass
            began, seen = SEEN.pop()
            starts = sorted(note["start"] - began for note in notes(url))
            firsts.append(starts[0] * 1000)
            lasts.append(starts[-1] * 1000)
            tops += seen
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000 / count)
    first, last = (statistics.median(times[1:]) for times in (firsts, lasts))
    each = f"{statistics.median(tops):.0f} MB and {statistics.median(spent[1:]):.0f} ms of CPU each"
    print(f"{count} at once: first request after {first:.0f} ms, the last one's after {last:.0f} ms, {each}")


def main() -> None:
    """Measure."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        for count in (1, 8):
            asyncio.run(measure(url, Path(folder), count, rounds))


if __name__ == "__main__":
    main()
