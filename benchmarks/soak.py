"""Many turns in one process: does it grow? ``soak.py [--turns 10000] [--sessions 200] [--big 500]``.

``soak_gateway.py`` does the same through a gateway with people on a chat service.

A scripted model in a process of its own calls real tools through the real provider plugin: a shell command in every
turn, a file in some, and every ``--big`` turns outputs of 50 MB. Prints one JSON object, writes ``soak.svg`` beside
this file, and exits with 1 when memory grows by more than 1 MB per 1,000 turns, or anything is left over.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from run import model_server

from hermes_core.embed import Hermes
from hermes_core.kinds import tool
from hermes_core.types import Ended

HERE = Path(__file__).parent
BIG = 50_000_000
SLOPE = 1.0  # MB per 1,000 turns
EVERY = 50  # turns between two looks


class Look(NamedTuple):
    """What the process holds after some turns."""

    turns: int
    rss: float  # MB
    descriptors: int
    threads: int
    tasks: int
    children: int
    sessions: int


@tool(toolset="soak")
async def huge() -> str:
    """Give an output as a server of another program would: all at once, far too long."""
    return "x" * BIG


def children() -> int:
    """How many processes of ours run."""
    threads = Path("/proc/self/task").iterdir()
    return sum(len((thread / "children").read_text().split()) for thread in threads)


def look(turns: int, hermes: Hermes) -> Look:
    """Count."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Look(
        turns,
        pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        len(asyncio.all_tasks()),
        children(),
        len(hermes.runtime.sessions._open),
    )


def said(turn: int, big: int, sample: str) -> str:
    """What the person says in a turn: which tools are to be called."""
    lines = [f'terminal {{"command": "true {turn}"}}']
    if turn % 7 == 0:
        lines.append(json.dumps({"path": sample}).join(("read_file ", "")))
    if turn % big == big // 2:
        lines.append(f'terminal {{"command": "head -c {BIG} /dev/zero | tr \\\\\\\\0 x"}}')
    if turn % big == 0:
        lines.append("huge {}")
    return "\n".join(lines)


async def soak(hermes: Hermes, turns: int, sessions: int, big: int, sample: str) -> list[Look]:
    """Play the turns, one after the other, and look every now and then."""
    looks = []
    for turn in range(1, turns + 1):
        async for event in hermes.turn(said(turn, big, sample), session=f"soak-{turn % sessions}"):
            if isinstance(event, Ended) and event.reason != "done":
                raise RuntimeError(f"turn {turn} ended {event.reason}")
        if turn % EVERY == 0:
            looks.append(look(turn, hermes))
            if turn % 1000 == 0:
                print(looks[-1], file=sys.stderr, flush=True)
    return looks


def slope(looks: list[Look]) -> float:
    """MB per 1,000 turns, by least squares."""
    middle = sum(x.turns for x in looks) / len(looks), sum(x.rss for x in looks) / len(looks)
    over = sum((x.turns - middle[0]) * (x.rss - middle[1]) for x in looks)
    return 1000 * over / (sum((x.turns - middle[0]) ** 2 for x in looks) or 1)


def draw(looks: list[Look], path: Path, title: str) -> None:
    """The memory over the turns, as a picture."""
    width, height, left, low = 720, 320, 60, 280
    top = max(x.rss for x in looks) * 1.1
    points = " ".join(
        f"{left + (width - left - 20) * x.turns / looks[-1].turns:.1f},{low - (low - 30) * x.rss / top:.1f}"
        for x in looks
    )
    marks = "".join(
        f'<text x="{left - 8}" y="{low - (low - 30) * part / 4 + 4:.0f}" text-anchor="end">{top * part / 4:.0f}</text>'
        f'<line x1="{left}" x2="{width - 20}" y1="{low - (low - 30) * part / 4:.0f}" '
        f'y2="{low - (low - 30) * part / 4:.0f}" stroke="#ddd"/>'
        for part in range(5)
    )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/><text x="{left}" y="18">{title}</text>{marks}'
        f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="1.5"/>'
        f'<text x="{width - 20}" y="{low + 20}" text-anchor="end">{looks[-1].turns:,} turns</text></svg>\n'
    )


async def main() -> int:
    """Soak, report, judge."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--turns", type=int, default=10_000)
    options.add_argument("--sessions", type=int, default=200)
    options.add_argument("--big", type=int, default=500, help="turns from one 50 MB output to the next")
    options.add_argument("--trace", action="store_true", help="also say where memory was taken that is still held")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        place = Path(folder)
        own = children()  # the scripted model
        (sample := place / "sample.txt").write_text("a line of a sample\n" * 500)
        config = {
            "model.provider": "custom", "model.base_url": url, "model.default": "do", "policy.mode": "off",
            "terminal.cwd": folder,
        }  # fmt: skip
        hermes = Hermes(home=place / "home", config=config, tools=[huge])
        began = time.perf_counter()
        if chosen.trace:
            import tracemalloc

            await soak(hermes, chosen.turns // 2, chosen.sessions, chosen.big, str(sample))
            tracemalloc.start(12)
            before = tracemalloc.take_snapshot()
        looks = await soak(hermes, chosen.turns, chosen.sessions, chosen.big, str(sample))
        if chosen.trace:
            gc.collect()
            for line in tracemalloc.take_snapshot().compare_to(before, "traceback")[:8]:
                print(line, *line.traceback.format()[-12:], sep="\n", file=sys.stderr)
        seconds = time.perf_counter() - began
        spilled = sum(f.stat().st_size for f in (place / "home").rglob("*.txt")) / 1e6
        await hermes.close()
        end = look(chosen.turns, Hermes(home=place / "home"))
    warm = looks[len(looks) // 4 :]
    growth = slope(warm)
    flat = {name: sorted({getattr(x, name) for x in warm}) for name in ("descriptors", "threads", "tasks", "sessions")}
    report = {
        "turns": chosen.turns, "turns_per_second": round(chosen.turns / seconds, 1), "rss_start_mb": looks[0].rss,
        "rss_end_mb": looks[-1].rss, "mb_per_1000_turns": round(growth, 3), "spilled_mb": round(spilled),
        **{name: [found[0], found[-1]] for name, found in flat.items()}, "children_left": end.children - own,
        "tasks_left": end.tasks - 1,
    }  # fmt: skip
    draw(looks, HERE / "soak.svg", f"Resident memory in MB; {growth:+.2f} MB per 1,000 turns after warm-up")
    print(json.dumps(report, indent=1))
    return 0 if growth <= SLOPE and end.children == own and end.tasks == 1 else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
