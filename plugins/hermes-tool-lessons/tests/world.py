"""A world in which nothing can be known beforehand, and a worker, a learner and a judge of known quality.

Each service has quirks: an action needs a value that nothing tells. The worker does it right only where that value
stands in what it is told, and falls for a trap that stands there. So what it achieves is caused by what was kept, found
and told, and by nothing else. The learner writes lessons of which some are good, many useless and some harmful, without
knowing which. All go through the gates, rows, index and ledger of the plugin as they are.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from attrs import Factory

from hermes_core.database import StoreBroker
from hermes_core.types import Principal
from hermes_core.values import define, frozen
from hermes_tool_lessons.ledger import Ledger
from hermes_tool_lessons.rows import Lessons
from hermes_tool_lessons.selecting import Selector
from hermes_tool_lessons.signs import followed
from hermes_tool_lessons.values import Draft, Event, Lesson

try:
    from .paper import Paper
except ImportError:  # a benchmark has it beside itself
    from paper import Paper

__all__ = ["Knobs", "Quirk", "World", "interval", "quirks_of"]

ME = Principal()
_ACTIONS = (
    ("deploy", "deploying", "deployed"), ("export", "exporting", "exported"), ("sync", "syncing", "synced"),
    ("import", "importing", "imported"), ("render", "rendering", "rendered"), ("archive", "archiving", "archived"),
)  # fmt: skip
_TASKS = (
    "Please {do} build {n} on {s}.", "Can you {do} version {n} to {s} today?", "I want {n} {done} on {s}.",
    "{s}: {do} number {n}, thanks in advance", "We should be {doing} {n} on {s} by now.", "{do} {n} with {s} for me",
    "Get release {n} {done} through {s}.", "Before lunch, {do} the {n} files on {s}.", "Is {doing} {n} on {s} hard?",
    "The customer waits: {s} must {do} item {n}.",
)  # fmt: skip
_USELESS = (
    "For {s}, read the `README.{n}` before you {do}.", "Think about {s} twice.", "Ada likes to {do} on {s}.",
    "When {s} is slow, wait for `{n}` minutes.", "{s} has a `status-{n}` page.", "Look at {s} with fresh eyes.",
)  # fmt: skip


@frozen
class Quirk:
    """What an action of a service needs, the traps beside it, and the tasks that need it."""

    service: str
    forms: tuple[str, str, str]
    token: str
    traps: Sequence[str]
    tasks: Sequence[str]

    @property
    def trigger(self) -> str:
        """The words that call for it."""
        return f"{self.service} {self.forms[0]}"


@frozen(kw_only=True)
class Knobs:
    """How good everybody is. ``reads`` is how many lessons the worker reads, ``follows`` how often it keeps to one."""

    good: float = 0.1
    harmful: float = 0.3
    noise: float = 0.0
    absent: float = 0.0
    shuffled: bool = False
    reads: int = 99
    follows: float = 1.0
    delay: int = 0
    mode: str = "auto"
    inject: str = "selected"  # none, all, random, oracle
    learns: bool = True
    replays: bool = False


def quirks_of(seed: int, many: int) -> Sequence[Quirk]:
    """Make quirks: two of each service, so that words of a service alone do not tell which is meant."""
    dice = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) * 2 < many:
        names["".join(f"{dice.choice('bdfgklmnprstvz')}{dice.choice('aeiou')}" for _ in range(3))] = None
    made: list[Quirk] = []
    for service in names:
        for forms in dice.sample(_ACTIONS, 2):
            values = [
                f"--{dice.choice(('mode', 'zone', 'form', 'style'))}={dice.randrange(16**6):06x}" for _ in range(4)
            ]
            words = dict(zip(("do", "doing", "done"), forms, strict=True))
            tasks = [task.format(s=service, n=dice.randrange(1000, 9999), **words) for task in dice.sample(_TASKS, 10)]
            made.append(Quirk(service, forms, values[0], values[1:], tasks))
    return made[:many]


@define
class World:
    """One run. ``kinds`` says of each lesson what it is, which nobody in it knows."""

    store: StoreBroker | None  # none: on paper
    quirks: Sequence[Quirk]
    knobs: Knobs = Factory(Knobs)
    seed: int = 0
    kinds: dict[str, str] = Factory(dict)
    turns: int = 0
    cost: int = 0
    told: int = 0

    def __attrs_post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        if self.store is None:
            self.rows: Any = Paper()
            self.ledger = self.selector = self.rows
        else:
            self.rows, self.ledger = Lessons(self.store), Ledger(self.store)
            self.selector = Selector(self.rows, self.ledger)
        self._solved: dict[str, tuple[Quirk, Sequence[Lesson]]] = {}
        self.broke = 0
        self._late: list[tuple[int, Draft, str]] = []

    async def learn(self, rounds: int) -> None:
        """Work on the tasks that are shown, the first half of each quirk, so many times."""
        for _ in range(rounds):
            shown = [(quirk, task) for quirk in self.quirks for task in quirk.tasks[:5]]
            self.dice.shuffle(shown)
            for quirk, task in shown:
                await self.episode(quirk, task)

    async def episode(self, quirk: Quirk, task: str) -> bool:
        """Do one task, have it judged, and learn; whether it was solved."""
        self.turns += 1
        turn = f"t{self.turns}"
        told, held = await self.selector.pick(await self.selector.index(ME), ME, task, (), 1600)
        if told:
            await self.ledger.tell(ME, "w", turn, [one.id for one in told])
        if held:
            await self.ledger.hold(ME, "w", turn, held)
        acts = self.work(quirk, told)
        solved = quirk.token in acts
        did = [(one.id, followed(one.text, acts)) for one in told]
        what = [
            Event(id=f"{turn}/followed/{name}", kind="followed", session="w", turn=turn, lesson=name, value=float(it))
            for name, it in did if it is not None
        ]  # fmt: skip
        if what:
            await self.ledger.write(ME, *what)
        seen = self.dice.random() < 0.5 if self.knobs.shuffled else solved != (self.dice.random() < self.knobs.noise)
        if self.dice.random() >= self.knobs.absent:
            await self.ledger.settle(ME, "w", turn, good=seen, why="judged", mode=self.knobs.mode)
            if self.store is not None:  # on paper what helps stays at once
                for one in told:
                    if await self.waits(one.id):
                        await self.rows.replayed(one.id, mode=self.knobs.mode, most=2000, broke="", kept=0)
            if self.turns % 10 == 0:
                await self.ledger.estimate(ME)
            if seen:
                self._solved.setdefault(quirk.trigger, (quirk, told))
            if not seen and self.knobs.learns:
                self._late.append((self.turns + self.knobs.delay, *self._draft(quirk, turn)))
        while self._late and self._late[0][0] <= self.turns:
            _, draft, kind = self._late.pop(0)
            await self.propose(draft, kind)
        return solved

    async def waits(self, lesson: str) -> bool:
        """Tell whether a lesson helped, and old tasks are to be done again with it before it stays."""
        now = await self.rows.get(lesson)
        return bool(now and now.state == "trial" and now.asks)

    async def propose(self, draft: Draft, kind: str) -> None:
        """Hand a draft in."""
        more = {"mode": self.knobs.mode, "most": 2000}
        lesson, _ = await self.rows.propose(ME, draft, author="review", replays=self.knobs.replays, **more)
        if lesson is None:
            return
        self.kinds[lesson.id] = kind
        if self.knobs.replays:
            quirk, told = self._solved.get(draft.trigger, (None, ()))
            broke = (
                bool(quirk)
                and quirk.token in self.work(quirk, told)
                and quirk.token not in self.work(quirk, [*told, lesson])
            )
            self.broke += broke
            await self.rows.replayed(lesson.id, broke="it breaks a task" if broke else "", kept=1, **more)

    def _breaks(self, quirk: Quirk, told: Sequence[Lesson], lesson: Lesson) -> bool:
        """Do a task again, with and without a lesson; whether only without it is solved."""
        return quirk.token in self.work(quirk, told) and quirk.token not in self.work(quirk, [*told, lesson])

    async def score(self, inject: str = "selected", *, shown: bool = False) -> tuple[int, int]:
        """Do the tasks that were never shown, or those that were, without learning; how many were solved, of all."""
        solved = done = 0
        for quirk in self.quirks:
            for task in quirk.tasks[:5] if shown else quirk.tasks[5:]:
                told = await self._told(task, inject, quirk)
                self.cost += sum(len(one.line.encode()) for one in told)
                self.told += len(told)
                solved, done = solved + (quirk.token in self.work(quirk, told)), done + 1
        return solved, done

    async def by_kind(self) -> dict[str, list[Lesson]]:
        """Return the lessons there are by what they really are."""
        made: dict[str, list[Lesson]] = {"good": [], "useless": [], "harmful": []}
        for one in await self.rows.list(ME):
            made[self.kinds[one.id]].append(one)
        return made

    async def _told(self, task: str, inject: str = "selected", quirk: Quirk | None = None) -> Sequence[Lesson]:
        if inject == "none":
            return ()
        if inject == "oracle" and quirk:
            return [_as_told(quirk)]
        if inject in ("all", "random"):
            there = await self.rows.list(ME)
            return there if inject == "all" else self.dice.sample(there, min(2, len(there)))
        return await self.selector.select(ME, task, (), 1600)

    def work(self, quirk: Quirk, told: Sequence[Lesson]) -> str:
        """Do a task as it is told; a trap that stands there catches the worker, whatever else does."""
        read = "\n".join(one.line for one in told[: self.knobs.reads])
        if self.dice.random() >= self.knobs.follows:
            read = ""
        for trap in quirk.traps:
            if trap in read:
                return f"{quirk.service} {trap}"
        return f"{quirk.service} {quirk.token if quirk.token in read else '--default'}"

    def _draft(self, quirk: Quirk, turn: str) -> tuple[Draft, str]:
        """Write a lesson, of a quality that the writer does not know."""
        chance, do = self.dice.random(), quirk.forms[0]
        if chance < self.knobs.good:
            kind, text = "good", self.dice.choice(_GOOD).format(s=quirk.service, do=do, t=quirk.token)
        elif chance < self.knobs.good + self.knobs.harmful:
            kind, text = "harmful", _GOOD[0].format(s=quirk.service, do=do, t=self.dice.choice(quirk.traps))
        else:
            n = self.dice.randrange(10, 99)
            kind, text = "useless", self.dice.choice(_USELESS).format(s=quirk.service, do=do, n=n)
        return Draft(trigger=quirk.trigger, text=text, sources=[f"{turn}/turn"]), kind


_GOOD = ("To {do} on {s}, use `{t}`.", "{s} needs `{t}` for that.")


def _as_told(quirk: Quirk) -> Lesson:
    return Lesson(id="0", profile="", person="", trigger=quirk.trigger, text=f"use `{quirk.token}`", state="active")


def interval(won: int, of: int) -> tuple[float, float]:
    """Return between what the share lies, with 95 % (Wilson)."""
    if not of:
        return 0.0, 1.0
    z, p = 1.96, won / of
    middle, half = p + z * z / (2 * of), z * ((p * (1 - p) + z * z / (4 * of)) / of) ** 0.5
    return max(0.0, (middle - half) / (1 + z * z / of)), min(1.0, (middle + half) / (1 + z * z / of))


Made = Callable[[Knobs, int], World]
