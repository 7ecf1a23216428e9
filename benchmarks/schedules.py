"""Schedules with many jobs and runs in the store: ``benchmarks/schedules.py [--jobs N] [--runs N] [--seconds N]``.

Prints one JSON object: how late due jobs begin, against how late a bare ``asyncio.sleep`` to the same instant is in the
same run; and what a scheduler costs that has nothing to do, in time of a processor and in memory, against the same
kernel without one.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from attrs import asdict, evolve

from hermes_core.testing import Bench, ScriptedProvider
from hermes_tool_cron.playing import jobs_of
from hermes_tool_cron.rows import jobs, runs
from hermes_tool_cron.ticker import Ticker
from hermes_tool_cron.values import Job, Options, Run

DUE = 10  # jobs that come due, one a second
BOUND = 1.0  # seconds after its instant that a job has to begin
IDLE, MEMORY = 0.005, 5.0  # the share of a processor, and MB, that a scheduler has which has nothing to do


def job(number: int, now: float, at: float) -> Job:
    """A job that is due at some instant."""
    return Job(
        id=f"job{number:08}", person="owner", name=f"job{number}", schedule="0 8 * * *", zone="UTC", prompt="Well?",
        created=now, anchor=now, due=at, at=at,
    )  # fmt: skip


async def fill(ctx: Any, many: int, past: int) -> list[float]:
    """Put jobs into the store, a few of them due soon, and ``past`` instants that are over; when those few are due."""
    import sqlalchemy as sa

    now = float(int(time.time()))
    soon = [now + 8 + past // 10_000 + number for number in range(DUE)]
    made = [job(number, now, now + 86_400 + number) for number in range(many - DUE)]
    made += [evolve(job(many + number, now, at), schedule="1d", anchor=at - 86_400) for number, at in enumerate(soon)]
    rows = [{**asdict(one, recurse=False), "options": json.dumps(asdict(Options()))} for one in made]
    await ctx.store.transact(lambda tx: tx.execute(sa.insert(jobs), rows))
    over = []
    for number in range(past):
        of, when = made[number % len(made)].id, now - number - 1
        run = Run(id=f"{of}@{number}", job=of, person="owner", due=when, created=when, state="done", answer="Fine. ")
        over.append({**asdict(run), "outside": 0})
    await ctx.store.transact(lambda tx: over and tx.execute(sa.insert(runs), over))
    return soon


async def begun(ctx: Any) -> list[Run]:
    """The runs of the jobs that came due, once all are over."""
    while True:
        found = [one for one in await jobs_of(ctx).runs("owner", limit=DUE * 2) if one.ended]
        if len(found) == DUE:
            return sorted(found, key=lambda one: one.due)
        await asyncio.sleep(0.2)


async def bare(instants: list[float]) -> list[float]:
    """How late a bare sleep to each instant is."""

    async def until(instant: float) -> float:
        await asyncio.sleep(instant - time.time())
        return time.time() - instant

    return list(await asyncio.gather(*map(until, instants)))


async def idle(seconds: float) -> float:
    """The share of a processor that this process uses while nothing is to be done."""
    before = time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - before) / seconds


def memory() -> float:
    """The memory that this process has now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1_000_000


async def measured(home: Path, many: int, past: int, seconds: float) -> dict[str, Any]:
    """Fill a store, let jobs come due, then let nothing happen."""
    hermes = Bench(home)
    hermes.tmp_plugin(ScriptedProvider(["Fine."] * DUE))
    hermes.tmp_plugin("hermes_tool_cron")
    hermes.configure({"cron.zone": "UTC", "cron.parallel": DUE})
    hermes.runtime.loader.load_contributing("services")
    ctx = hermes.context("hermes_tool_cron")
    soon = await fill(ctx, many, past)
    without, before = await idle(1.0), memory()
    ticker = asyncio.create_task(Ticker(ctx).run())
    await asyncio.sleep(2)
    waiting = memory() - before
    sleeps = asyncio.create_task(bare(soon))
    runs = await begun(ctx)
    late = [run.started - due for run, due in zip(runs, soon, strict=True)]
    with_it = await idle(seconds)
    grown = memory() - before
    ticker.cancel()
    await asyncio.gather(ticker, return_exceptions=True)
    await hermes.close()
    slept = sorted(await sleeps)
    return {
        "jobs": many,
        "runs": past,
        "late_s": {"worst": round(max(late), 3), "median": round(sorted(late)[DUE // 2], 3), "bound": BOUND},
        "bare_sleep_s": {"worst": round(slept[-1], 3), "median": round(slept[DUE // 2], 3)},
        "idle_cpu": {"with": round(with_it, 5), "without": round(without, 5), "bound": IDLE},
        "memory_mb": {"idle": round(waiting, 1), "bound": MEMORY, "after_ten_turns": round(grown, 1)},
        "kept": max(late) <= BOUND and waiting <= MEMORY and with_it <= IDLE,
    }


def main() -> None:
    """Print the figures; the exit status is 1 where the bound does not hold."""
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--jobs", type=int, default=10_000)
    wanted.add_argument("--runs", type=int, default=100_000, help="Instants that are over.")
    wanted.add_argument("--seconds", type=float, default=45.0, help="How long nothing happens.")
    given = wanted.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(Path(folder) / "home", given.jobs, given.runs, given.seconds))
    print(json.dumps(found, indent=2))
    raise SystemExit(not found["kept"])


if __name__ == "__main__":
    main()
