"""What the sandbox costs: ``benchmarks/sandbox.py [--rounds N]``. The same commands locally and under bubblewrap.

Rounds alternate, so that both see the same machine. Opening is the first command of a workspace with its start.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.config import Config
from hermes_backend_local.backend import Local
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import ExecRequest

BOUND = 5.0  # milliseconds that a command may take longer than locally


async def timed(work: object) -> float:
    """Milliseconds that something awaitable takes."""
    began = time.perf_counter()
    await work  # type: ignore[misc]
    return (time.perf_counter() - began) * 1000


async def first(backend: Backend, folder: str) -> float:
    """Milliseconds from opening to the end of the first command."""

    async def work() -> None:
        nonlocal workspace
        workspace = await backend.open(folder)
        await workspace.run(ExecRequest(argv=("bash", "-c", "true")))

    workspace: Workspace | None = None
    took = await timed(work())
    assert workspace is not None
    await workspace.close()
    return took


async def measure(rounds: int) -> bool:
    """Print the table; whether the bound was kept."""
    with tempfile.TemporaryDirectory() as folder:
        backends = {"local": Local(), "bubblewrap": Bubblewrap(Config(), Path(folder) / "home")}
        places = {name: await backend.open(folder) for name, backend in backends.items()}
        await places["local"].write("file", b"x" * 4096)
        works = {
            "bash -c true": lambda place: place.run(ExecRequest(argv=("bash", "-c", "true"))),
            "true": lambda place: place.run(ExecRequest(argv=("true",))),
            "read 4 KB": lambda place: place.read("file"),
            "write 4 KB": lambda place: place.write("other", b"x" * 4096),
        }
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(rounds):
            for name, place in places.items():
                for what, work in works.items():
                    times.setdefault((what, name), []).append(await timed(work(place)))
                times.setdefault(("first command", name), []).append(await first(backends[name], folder))
        for place in places.values():
            await place.close()
    kept = True
    for what in (*works, "first command"):
        local, inside = (statistics.median(times[what, name]) for name in places)
        bound = what == "bash -c true"
        missed = bound and inside - local > BOUND
        kept &= not missed
        note = f"   bound +{BOUND:g} ms{'   missed' if missed else ''}" if bound else ""
        print(f"{what:16} local {local:7.2f} ms   bubblewrap {inside:7.2f} ms   more {inside - local:+6.2f} ms{note}")
    return kept


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    raise SystemExit(0 if asyncio.run(measure(parser.parse_args().rounds)) else 1)


if __name__ == "__main__":
    main()
