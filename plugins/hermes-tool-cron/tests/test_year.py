"""Weeks and a year in simulated time: each instant is run once, or has a row that says why not."""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from hermes_tool_cron.values import OPEN, OVER, Job, Options

from .oracle import clock as clock_of
from .oracle import firsts, instants

DAY, HOUR, MINUTE = 86_400, 3_600, 60
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Santiago")
START = 1_767_225_600.0
WEEKDAYS = {"monday": "1", "sunday": "0", "weekend": "0,6"}


def a_job(dice: random.Random, number: int) -> Job:
    """Some job: most have an hour of their own, some run often, some count from where they began."""
    zone, minute, hour = dice.choice(ZONES), dice.randrange(60), dice.randrange(24)
    kind = dice.choice((0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 8))
    schedule = {
        0: f"every {dice.randrange(12, 400)}h",
        1: f"{minute} */{dice.choice((6, 12))} * {dice.randrange(1, 13)} *",
        2: f"{minute} {hour} 1-7 * *" if number % 5 else f"{minute} {hour} * * mon-fri",
        3: f"{minute} {hour} {dice.randrange(1, 29)} * *",
        4: f"{minute} {dice.randrange(4)} * 3,4,9-11 *",  # where clocks change
        5: f"every {dice.choice(('monday', 'sunday', 'weekend'))} at {hour}:{minute:02}",
        6: f"{minute} {dice.randrange(4)} * * 0",
        7: f"{minute} {hour} * * {dice.randrange(8)}",
        8: f"{minute} {hour} 1,15 * *",
    }[kind]
    options = Options(jitter=dice.choice((0, 0, 0, 300)), grace=dice.choice((0, 0, 600, 4 * HOUR)))
    return Job(id="", person="owner", name=f"job{number}", schedule=schedule, zone=zone, prompt="x", options=options)


def expected(job: Job, end: float) -> list[float]:
    """The instants of a job by the oracle."""
    if job.schedule.endswith("h") and job.schedule.startswith("every "):
        seconds = int(job.schedule[6:-1]) * HOUR
        return [job.anchor + seconds * n for n in range(1, int((end - job.anchor) // seconds) + 1)]
    cron = job.schedule.replace("mon-fri", "1-5")
    if cron.startswith("every "):
        _, day, _, at = cron.split()
        hour, minute = map(int, at.split(":"))
        cron = f"{minute} {hour} * * {WEEKDAYS[day]}"
    return instants(cron, job.zone, START, end)


class Simulation:
    """Two schedulers, their deaths, and what they ran."""

    def __init__(self, make: Any, clock: Any, seed: int) -> None:
        self.make, self.clock, self.dice = make, clock, random.Random(seed)
        self.two = [make(), make()]
        self.begun: Counter[str] = Counter()

    async def look(self, rows: Any) -> None:
        """One scheduler looks, and plays what is to be played; it may die in the middle of it."""
        while True:
            looked = await rows.look(keep=1_000_000)
            if not looked.again or looked.again > looked.now:
                break
        for run in await rows.pending(1_000):
            if self.dice.random() < 0.02:
                return  # it died
            if run.state == "due" and (run := await rows.step(run, "agent")):
                self.begun[run.id] += 1
            if run and run.state == "agent" and self.dice.random() < 0.95:
                await rows.step(run, self.dice.choice(("done", "silent", "failed")), answer="x")

    async def both(self) -> None:
        if self.dice.random() < 0.2:
            await asyncio.gather(*(self.look(rows) for rows in self.two))
            return
        for rows in self.two:  # at one time they wait for each other, which takes longer
            await self.look(rows)

    async def until(self, end: float, step: int) -> None:
        while self.clock.now < end:
            what = self.dice.random()
            if what < 0.01:
                self.clock.now += self.dice.randrange(8 * HOUR, 3 * DAY)  # the machine slept
            elif what < 0.02 and self.clock.now < end - DAY:
                self.clock.now += self.dice.randrange(HOUR, 3 * HOUR)  # the clock was wrong for a while
                await self.both()
                self.clock.now -= HOUR
            else:
                self.clock.now += self.dice.randrange(MINUTE, step)
            self.clock.now = min(self.clock.now, end)
            if self.dice.random() < 0.9:
                await self.both()
            else:
                await self.look(self.dice.choice(self.two))
        for _ in range(3):
            await self.both()


async def accounted(make, clock, *, jobs: int, days: int, step: int, seed: int) -> Counter[str]:
    """Play it, and hold each row against the oracle; how the instants ended."""
    simulation = Simulation(make, clock, seed)
    dice = random.Random(seed)
    rows = simulation.two[0]
    made = [await rows.add(a_job(dice, number), jobs) for number in range(jobs)]
    end = START + days * DAY
    await simulation.until(end, step)
    states: Counter[str] = Counter()
    zones: dict[str, list[Job]] = {}
    for job in made:
        zones.setdefault(job.zone, []).append(job)
    for theirs in zones.values():
        for job in theirs:
            known = await rows.runs("owner", job.id, 1_000_000)
            late = {one.due for one in known if one.due + job.options.jitter > end}
            assert sorted(one.due for one in known) == [
                one for one in expected(job, end) if one + job.options.jitter <= end or one in late
            ], job
            for one in known:
                states[one.state] += 1
                ran = one.state in OPEN or one.state in ("done", "silent", "failed")
                assert simulation.begun[one.id] == (1 if ran and one.state != "due" else 0), one
                assert one.state in OVER or one.state in OPEN
                assert one.why or ran
        clock_of.cache_clear()
        firsts.cache_clear()
    return states


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
async def test_weeks_of_two_schedulers(scheduler, clock, seed):
    states = await accounted(scheduler, clock, jobs=24, days=25, step=4 * HOUR, seed=seed)
    assert states["done"] + states["silent"] + states["failed"] > 10
    assert states["missed"]


@pytest.mark.real
@pytest.mark.timeout(7200)
async def test_weeks_of_two_schedulers_on_a_server(served, clock, request):
    """Two hundred jobs where the days are many; a year: ``--days 365 -o faulthandler_timeout=0``."""
    days = request.config.getoption("days")
    many = 24 if days < 100 else 200
    states = await accounted(served, clock, jobs=many, days=days, step=(4 if days < 100 else 8) * HOUR, seed=11)
    assert states["done"]
    assert states["missed"]


@pytest.mark.long
@pytest.mark.timeout(230)
async def test_a_year_of_two_schedulers(scheduler, clock):
    states = await accounted(scheduler, clock, jobs=200, days=365, step=8 * HOUR, seed=7)
    assert sum(states.values()) > 8_000
    assert all(states[one] > 300 for one in ("done", "silent", "failed", "missed"))
