"""What a child agent costs: call to first request, memory, eight at once. ``children.py [ROUNDS]``.

The child speaks HTTP to the scripted model server, with the default tools. Its memory is what this process grows by
while the requests wait.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from attrs import frozen
from run import model_server, notes

from hermes_core.distribution import HERMES
from hermes_core.embed import Hermes
from hermes_core.kinds import ModelRoute, Provider, ToolContext, tool
from hermes_core.types import CallDelta, Done, Effect, Model, TextDelta, TurnOrder

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


SEEN: list[tuple[float, float]] = []
HERE: list[Hermes] = []  # the one at work


def memory() -> float:
    """What this process has in memory, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def child(context: ToolContext, number: int) -> None:
    """One child, to its end."""
    runtime = HERE[-1].runtime
    turns = runtime.turns_of(runtime.index.get("tool/delegate"))
    order = TurnOrder(model=f"custom:{SLOW}", event=str(number))
    events = [event async for event in turns.run(f"say hello {number}", order=order, call=context)]
    assert events[-1].reason == "done", events


@tool(toolset="bench", effects={Effect.DELEGATE}, touches=lambda _: ())
async def fan(context: ToolContext, wanted: Fan) -> str:
    """Start children."""
    began, before, top = time.perf_counter(), memory(), 0.0
    work = asyncio.gather(*(child(context, number) for number in range(wanted.count)))
    while not work.done():
        top = max(top, memory() - before)
        await asyncio.sleep(0.02)
    await work
    SEEN.append((began, top / wanted.count))
    return "ok"


async def measure(url: str, home: Path, count: int, rounds: int) -> None:
    """Print the medians for so many children at once."""
    config = {"providers.custom.base_url": url, "providers.custom.api_key": "x", "terminal.cwd": str(home)}
    firsts, lasts, tops, spent = [], [], [], []
    async with Hermes(HERMES, home=home, config=config, tools=[fan]) as hermes:
        HERE.append(hermes)
        hermes.runtime.routes.current = ModelRoute(name="driver", provider=Driver(), model="driver-1")
        for _ in range(rounds + 1):  # the first one fills caches
            notes(url)
            before = time.process_time()
            async for _event in hermes.turn(str(count)):
                pass
            began, seen = SEEN.pop()
            starts = sorted(note["start"] - began for note in notes(url))
            firsts.append(starts[0] * 1000)
            lasts.append(starts[-1] * 1000)
            tops.append(seen)
            spent.append((time.process_time() - before) * 1000 / count)
    first, last = (statistics.median(times[1:]) for times in (firsts, lasts))
    each = f"{max(tops):.1f} MB and {statistics.median(spent[1:]):.0f} ms of CPU each"
    print(f"{count} at once: first request after {first:.0f} ms, the last one's after {last:.0f} ms, {each}")


def main() -> None:
    """Measure."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        for count in (1, 8):
            asyncio.run(measure(url, Path(folder), count, rounds))


if __name__ == "__main__":
    main()
