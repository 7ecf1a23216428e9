"""What lessons do in a world where nothing is known beforehand: ``benchmarks/learning.py [--quirks N] [--rounds N]``.

Prints one JSON object. ``loop``: the share of the way from the floor (no lesson told) to the ceiling (the right one)
on tasks that were never shown, for a learner that writes 10 % good, 60 % useless and 30 % harmful lessons; how many of
each kind stayed, and the most uses that a harmful one had. ``noise``: the same where 30 % of the ends are judged
wrongly, for so many rounds and twice as many. ``shuffled``: where ends are judged by chance. ``grades``: for other
workers and learners. ``controls``: what must not help, or must hurt. ``patience``: good lessons that were let go of, of
200. ``changes``: solved tasks that failed after changes were let in. ``poison``: what was learned of episodes with text
from outside, and how far words alone go. ``speed``: what it takes to find the lessons of a message among 10,000, in
milliseconds of the processor, and as a ratio to the baseline of the same run: a transaction that reads one row.

The world is in the tests of the plugin, and so is the paper that ``loop`` and what is below it are played on: the
plugin's rules over values in memory. A test plays a small world on it and in the store, and both come out the same to
the last lesson. ``poison`` and ``speed`` are measured in the store. A worker follows what it is told and knows nothing
else. So this shows that what was learned is kept, found, told and let go of; it says nothing of how good lessons a
model writes.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/hermes-tool-lessons/tests"))

from world import ME, Knobs, World, interval, quirks_of

from hermes_core.testing import Bench
from hermes_tool_lessons.chances import Rates
from hermes_tool_lessons.values import Draft, Lesson

_ALL = ("speed", "poison", "patience", "loop", "noise", "shuffled", "grades", "changes", "controls")
_GRADES = {
    "reads the first two": Knobs(reads=2),
    "follows four of five": Knobs(follows=0.8),
    "learns 50 turns later": Knobs(delay=50),
    "hears of 70 %": Knobs(absent=0.3),
}


@asynccontextmanager
async def house() -> Any:
    """A store of the kernel's, with the tables of lessons."""
    with tempfile.TemporaryDirectory() as folder:
        hermes = Bench(Path(folder) / "home")
        hermes.tmp_plugin("hermes_tool_lessons")
        hermes.runtime.load_hooks()
        try:
            yield hermes.context("hermes_tool_lessons").store
        finally:
            await hermes.close()


async def loop(quirks: int, rounds: int, seed: int, knobs: Knobs) -> dict[str, Any]:
    """Learn for so many rounds, and do the tasks that were never shown."""
    world = World(None, quirks_of(seed, quirks), knobs, seed)
    await world.learn(rounds)
    floor, _ = await world.score("none")
    world.cost = world.told = 0
    won, of = await world.score()
    told, cost = world.told, world.cost
    ceiling, _ = await world.score("oracle")
    kinds = await world.by_kind()
    harmful, way = kinds["harmful"], max(1, ceiling - floor)
    low, high = interval(won - floor, way)
    return {
        "seed": seed, "turns": world.turns, "floor": floor, "won": won, "ceiling": ceiling, "of": of,
        "share": round((won - floor) / way, 3), "interval": [round(low, 3), round(high, 3)],
        "told_per_task": round(told / of, 2), "bytes_per_task": round(cost / of),
        "states": {k: {s: sum(one.state == s for one in v) for s in ("active", "trial", "candidate", "retired")}
                   for k, v in kinds.items()},
        "harmful_most_uses": max((one.uses for one in harmful), default=0),
        "harmful_active": sum(one.state == "active" for one in harmful),
        "good_let_go": sum(one.state == "retired" for one in kinds["good"]), "good": len(kinds["good"]),
    }  # fmt: skip


async def grade(quirks: int, rounds: int, name: str) -> dict[str, Any]:
    """Learn with another worker, or later, or with fewer ends known."""
    made = await loop(quirks, rounds, 0, _GRADES[name])
    return {"who": name, **{key: made[key] for key in ("share", "interval", "harmful_active")}}


async def controls(quirks: int, rounds: int, seed: int) -> dict[str, Any]:
    """What comes out where it must: everything told, lessons by chance, labels by chance, retiring too soon."""
    world = World(None, quirks_of(seed, quirks), Knobs(), seed)
    await world.learn(rounds)
    made: dict[str, Any] = {}
    for inject in ("none", "selected", "all", "random", "oracle"):
        world.cost = 0
        won, of = await world.score(inject)
        made[inject] = {"won": won, "of": of, "bytes_per_task": round(world.cost / of)}
    made["retired_too_soon"] = await hasty(quirks, rounds, seed)
    return made


async def hasty(quirks: int, rounds: int, seed: int) -> dict[str, Any]:
    """Retire a lesson at its first bad end, with 30 % of the ends judged wrongly; and with patience, beside it."""
    from unittest import mock

    patient = await loop(quirks, rounds, seed, Knobs(noise=0.3))

    def first(lesson: Lesson, rates: Rates) -> str:
        return "harms" if "0" in lesson.recent else "helps" if lesson.recent.count("1") > 3 else ""

    with mock.patch("paper.verdict", first):
        hasty = await loop(quirks, rounds, seed, Knobs(noise=0.3))
    return {"hasty": hasty["share"], "patient": patient["share"]}


async def patience(seed: int, noise: float, good: int = 200, rounds: int = 4) -> dict[str, Any]:
    """Have good lessons only, and count those that are let go of."""
    world = World(None, quirks_of(seed, good), Knobs(noise=noise, learns=False), seed)
    for quirk in world.quirks:
        await world.propose(Draft(trigger=quirk.trigger, text=f"Use `{quirk.token}`.", sources=["x"]), "good")
    await world.learn(rounds)
    lessons = (await world.by_kind())["good"]
    return {"noise": noise, "good": len(lessons), "uses": sum(one.uses for one in lessons),
            "let_go": sum(one.state == "retired" for one in lessons),
            "active": sum(one.state == "active" for one in lessons)}  # fmt: skip


async def changes(quirks: int, seed: int, wanted: int) -> dict[str, Any]:
    """Learn, and after every round do again what was solved: none may fail. ``accepted``: lessons let in till then."""
    world = World(None, quirks_of(seed, quirks), Knobs(replays=True), seed)
    solved: set[str] = set()
    broken = accepted = rounds = 0
    while (accepted < wanted or rounds < 12) and rounds < 40:
        await world.learn(1)
        rounds += 1
        now: set[str] = set()
        for quirk in world.quirks:
            told = await world.selector.select(ME, quirk.tasks[6], (), 1600)
            active = [one for one in told if one.state == "active"]
            if active and quirk.token in world.work(quirk, told):
                now.add(quirk.trigger)
        broken += len(solved - now)
        solved |= now
        accepted = world.rows.let_in
    return {"accepted": accepted, "rounds": rounds, "solved": len(solved), "broken": broken,
            "refused_by_replay": world.broke}  # fmt: skip


async def speed(many: int = 10_000) -> dict[str, Any]:
    """Find the lessons of a message among so many, with 200 services and 50 actions in many words."""
    from hermes_tool_lessons.selecting import Selector

    dice = random.Random(5)
    words = ["".join(f"{dice.choice('bdfgklmnprstvz')}{dice.choice('aeiou')}" for _ in range(3)) for _ in range(4000)]
    async with house() as store:
        world = World(store, ())

        def fill(tx: Any) -> None:
            import sqlalchemy as sa

            from hermes_tool_lessons.tables import lessons, versions

            for number in range(many):
                trigger = " ".join(words[int(dice.random() ** 3 * 4000)] for _ in range(4))
                row = {"id": f"{number:010x}", "profile": ME.profile, "person": ME.person, "trigger": trigger,
                       "text": f"Use `--x={number}`.", "state": "active", "scope": "person", "sources": "[]",
                       "rev": number + 1, "version": 1}  # fmt: skip
                tx.execute(sa.insert(lessons).values(**row))
            tx.execute(sa.insert(versions).values(id="x", lesson="x", number=1, rev=many, content="{}"))

        await store.transact(fill)
        selector = Selector(world.rows, world.ledger)
        begun = time.perf_counter()
        await selector.index(ME)
        first = time.perf_counter() - begun
        took: list[float] = []
        bare: list[float] = []
        sizes: list[int] = []
        for _ in range(400):
            said = " ".join(words[int(dice.random() ** 2 * 4000)] for _ in range(25))
            begun = time.process_time()
            await world.rows.get("0000000007")
            bare.append((time.process_time() - begun) * 1000)
            begun = time.process_time()
            found = await selector.select(ME, said, (), 1600)
            took.append((time.process_time() - begun) * 1000)
            sizes.append(sum(len(one.line.encode()) for one in found))
        took.sort()
        bare.sort()
        return {"lessons": many, "first_look_ms": round(first * 1000), "p50_ms": round(took[200], 2),
                "p95_ms": round(took[380], 2), "one_row_p50_ms": round(bare[200], 2),
                "one_row_p95_ms": round(bare[380], 2), "times_one_row": round(took[200] / bare[200], 1),
                "times_one_row_p95": round(took[380] / bare[380], 1), "most_bytes": max(sizes)}  # fmt: skip


async def poison(many: int = 500) -> dict[str, Any]:
    """Hand in poisoned episodes, and count what is told of them; and what words stop that they were not made for."""
    from poison import FACTS, HELD_OUT, episodes

    from hermes_tool_lessons import gates

    async with house() as store:
        world = World(store, ())
        outside = 0
        for _, draft, marked in episodes(0, many):
            await world.propose(draft, "harmful")
            outside += marked
        live = await world.rows.list(ME, ("trial", "active"))

    def stopped(text: str) -> bool:
        draft = Draft(trigger="stratus", text=text.format(s="stratus"))
        return bool(gates.refusal(draft) or gates.needs_person(draft))

    return {"episodes": many, "with_outside_text": outside, "learned": len(live),
            "held_out_stopped_by_words_alone": f"{sum(map(stopped, HELD_OUT))} of {len(HELD_OUT)}",
            "facts_stopped": f"{sum(map(stopped, FACTS))} of {len(FACTS)}"}  # fmt: skip


async def main() -> None:
    """Run what is wanted, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quirks", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="The first seed.")
    parser.add_argument("--only", default="", choices=("", *_ALL))
    given = parser.parse_args()
    small = max(8, given.quirks // 5)
    seeds = range(given.first, given.first + given.seeds)
    runs: dict[str, list[Callable[[], Awaitable[Any]]]] = {
        "speed": [speed],
        "poison": [poison],
        "patience": [partial(patience, 0, noise) for noise in (0.0, 0.3)],
        "loop": [partial(loop, given.quirks, given.rounds, seed, Knobs()) for seed in seeds],
        "noise": [partial(loop, small, rounds, seed, Knobs(noise=0.3))
                  for rounds in (given.rounds, 2 * given.rounds) for seed in seeds],
        "shuffled": [partial(loop, small, given.rounds, seed, Knobs(shuffled=True)) for seed in seeds],
        "grades": [partial(grade, small, given.rounds, name) for name in _GRADES],
        "changes": [partial(changes, given.quirks, 0, 2000)],
        "controls": [partial(controls, small, given.rounds, given.first)],
    }  # fmt: skip
    made: dict[str, list[Any]] = {}
    for name in [given.only] if given.only else _ALL:
        for run in runs[name]:
            made.setdefault(name, []).append(await run())
            print(json.dumps({name: made[name][-1]}), file=sys.stderr, flush=True)
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    asyncio.run(main())
