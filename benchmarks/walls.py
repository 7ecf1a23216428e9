"""What a wall costs: ``benchmarks/walls.py [--rounds N]``. The same commands, bare and behind each wall.

Rounds alternate, so that all see the same machine. A workspace's first command, which makes its wall, stands apart.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from hermes_backend_local.workspace import Here
from hermes_backend_wall import bwrap, landlock
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled
from hermes_core.types import ExecRequest

BOUNDS = {"landlock": 1.5, "bubblewrap": 4.0}  # milliseconds that a command may take longer than bare
WORKS = {
    "true": ("true",),
    "bash -c true": ("bash", "-c", "true"),
    "100 modes changed": (
        "bash",
        "-c",
        "cd $TMPDIR && touch f && for i in $(seq 10); do chmod 600 f f f f f f f f f f; done",
    ),
}


async def timed(place: Here, argv: tuple[str, ...]) -> float:
    """Milliseconds of one command."""
    began = time.perf_counter()
    await place.run(ExecRequest(argv=argv))
    return (time.perf_counter() - began) * 1000


def kinds() -> list[str]:
    """The walls that can be made here."""
    return [*(["landlock"] if landlock.version() else []), *(["bubblewrap"] if bwrap.likely() else [])]


async def measure(rounds: int) -> bool:
    """Print the table; whether the bounds were kept."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "work")
        folder.mkdir()
        limits = Limits(memory_mb=16_384, processes=2048)
        places = {"bare": Here(str(folder))}
        for kind in kinds():
            plan = Plan(kind=kind, homes=Path(base, "homes"), limits=limits)  # type: ignore[arg-type]
            places[kind] = Here(str(folder), walled=Walled(str(folder), plan))
        for name, place in places.items():
            print(f"first command       {name:10} {await timed(place, ('true',)):8.2f} ms")
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(rounds):
            for what, argv in WORKS.items():
                for name, place in places.items():
                    times.setdefault((what, name), []).append(await timed(place, argv))
        for place in places.values():
            await place.close()
    kept = True
    for what in WORKS:
        bare = times[what, "bare"]
        print(f"{what:19} {'bare':10} {statistics.median(bare):8.2f} ms")
        for name in kinds():
            more = statistics.median(a - b for a, b in zip(times[what, name], bare, strict=True))
            judged = what != "100 modes changed"
            missed = judged and more > BOUNDS[name]
            kept &= not missed
            note = f"   bound +{BOUNDS[name]:g} ms{'   missed' if missed else ''}" if judged else ""
            print(f"{'':19} {name:10} {statistics.median(times[what, name]):8.2f} ms   more {more:+6.2f} ms{note}")
    return kept


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    raise SystemExit(0 if asyncio.run(measure(parser.parse_args().rounds)) else 1)


if __name__ == "__main__":
    main()
