"""Which lessons a turn is told: the proven ones that its message calls for, and at most one that is tried."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence

from hermes_core.types import Principal
from hermes_core.values import define
from hermes_tool_lessons.chances import Rates, helps, mean, tried_share
from hermes_tool_lessons.ledger import Ledger
from hermes_tool_lessons.matching import Called, Index, alike
from hermes_tool_lessons.rows import Lessons
from hermes_tool_lessons.values import Lesson

__all__ = ["Selector", "chosen"]

_MOST, _HELD = 5, 8  # lessons that a turn is told, and those for which a turn that is told none counts
_PEOPLE = 64  # whose triggers are kept in memory


class Selector:
    """Finds lessons for messages. What it knows of triggers is brought up to date at each look."""

    def __init__(self, rows: Lessons, ledger: Ledger) -> None:
        self._rows, self._ledger = rows, ledger
        self._indexes: dict[tuple[str, str], Index] = {}

    async def index(self, owner: Principal) -> Index:
        """Return the triggers that hold for somebody, as they are now."""
        key = (owner.profile, owner.person)
        index = self._indexes.pop(key, None)
        if index is None:
            index = Index()
        self._indexes[key] = index
        if len(self._indexes) > _PEOPLE:
            del self._indexes[next(iter(self._indexes))]
        if (changed := await self._rows.told(owner, index.rev, index.at)) is None:
            index = self._indexes[key] = Index()
            changed = await self._rows.told(owner, 0, 0.0)
        if changed is not None and changed.rev > index.rev:  # else somebody who looked later was here first
            for one in changed.live:
                index.put(one.id, one.trigger, one.scope, one.place)
            for one in changed.gone:
                index.drop(one.id)
            index.rev, index.at = changed.rev, changed.at
        return index

    async def select(
        self, owner: Principal, text: str, places: Collection[tuple[str, str]], room: int
    ) -> Sequence[Lesson]:
        """Return the lessons for a message, best first, within so many bytes."""
        return (await self.pick(await self.index(owner), owner, text, places, room))[0]

    async def pick(
        self, index: Index, owner: Principal, text: str, places: Collection[tuple[str, str]], room: int
    ) -> tuple[Sequence[Lesson], Sequence[str]]:
        """Return the same of an index that was brought up to date, and the ids of those that are held back."""
        called = index.called(text, places)
        if not called:
            return (), ()
        there, rates = await self._ledger.counts(owner, [one.id for one in called])
        return chosen(called, there, rates, room)


@define
class _Choice:
    called: Called
    lesson: Lesson

    @property
    def rank(self) -> tuple[float, int, str]:
        return (self.called.share * mean(self.lesson.recent), -self.lesson.offered, self.lesson.id)


def chosen(
    called: Sequence[Called], there: Mapping[str, Lesson], rates: Rates, room: int
) -> tuple[Sequence[Lesson], Sequence[str]]:
    """Choose of what is called for; and name what is held back, so that it is known how turns go without.

    One is tried at a time, so that it is known what an outcome says of it: the one that most probably helps. What works
    is not experimented with: nothing is tried where an active lesson has the same trigger, unless its last two uses
    went badly. In some of the turns nothing is tried, in most of them where hardly any lesson helps.
    """
    choices = [_Choice(one, there[one.id]) for one in called if one.id in there]
    active = sorted((one for one in choices if one.lesson.state == "active"), key=lambda one: one.rank, reverse=True)
    picked: list[Lesson] = []
    for one in active:
        size = len(one.lesson.line.encode())
        if len(picked) < _MOST and size <= room:
            picked.append(one.lesson)
            room -= size
    tried = [one for one in choices if one.lesson.state == "trial" and not any(_works(one, other) for other in active)]
    if not tried or len(picked) >= _MOST:
        return picked, ()
    hopes = {one.lesson.id: helps(one.lesson, rates) for one in tried}
    dice = random.Random(f"{[(one.id, one.share) for one in called]}{_turns(there.values())}")  # noqa: S311 - the same for the same, and no secret
    if dice.random() >= tried_share(list(hopes.values()), rates):
        likely = sorted(tried, key=lambda one: (-hopes[one.lesson.id], one.lesson.id))
        return picked, [one.lesson.id for one in likely[:_HELD]]
    best = max(tried, key=lambda one: (one.called.share * hopes[one.lesson.id], dice.random()))
    return ([*picked, best.lesson], ()) if len(best.lesson.line.encode()) <= room else (picked, ())


def _works(tried: _Choice, active: _Choice) -> bool:
    return alike(tried.called.words, active.called.words) and not active.lesson.recent.endswith("00")


def _turns(lessons: Iterable[Lesson]) -> int:
    return sum(one.offered + one.held for one in lessons)
