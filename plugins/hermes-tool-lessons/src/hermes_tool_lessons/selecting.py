"""Which lessons a turn is told: the proven ones that its message calls for, and at most one that is tried."""

import random
from collections.abc import Collection, Mapping, Sequence

from hermes_core.types import Principal
from hermes_core.values import define
from hermes_tool_lessons.chances import mean
from hermes_tool_lessons.ledger import Ledger
from hermes_tool_lessons.matching import Called, Index, alike
from hermes_tool_lessons.rows import Lessons
from hermes_tool_lessons.values import Lesson

__all__ = ["Selector", "chosen"]

_MOST = 5  # lessons that a turn is told
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
        if index is None or (index.rev and not await self._rows.stands(index.rev, index.at)):
            index = Index()
        self._indexes[key] = index
        if len(self._indexes) > _PEOPLE:
            del self._indexes[next(iter(self._indexes))]
        told, gone = await self._rows.told(owner, index.rev)
        newest, at = max(((one.rev, one.changed) for one in (*told, *gone)), default=(0, 0.0))
        if newest > index.rev:  # else somebody who looked later was here first
            for one in told:
                index.put(one.id, one.trigger, one.scope, one.place)
            for one in gone:
                index.drop(one.id)
            index.rev, index.at = newest, at
        return index

    async def select(
        self, owner: Principal, text: str, places: Collection[tuple[str, str]], room: int
    ) -> Sequence[Lesson]:
        """Return the lessons for a message, best first, within so many bytes."""
        return await self.pick(await self.index(owner), text, places, room)

    async def pick(self, index: Index, text: str, places: Collection[tuple[str, str]], room: int) -> Sequence[Lesson]:
        """Return the same of an index that was brought up to date."""
        called = index.called(text, places)
        return chosen(called, await self._ledger.counts([one.id for one in called]), room) if called else ()


@define
class _Choice:
    called: Called
    lesson: Lesson

    @property
    def rank(self) -> tuple[float, int, str]:
        return (self.called.share * mean(self.lesson.recent), -self.lesson.offered, self.lesson.id)

    def drawn(self, dice: random.Random) -> float:
        """Draw how well it may do, by what is known of it: so one that a judge erred on comes to its turn again."""
        wins, recent = self.lesson.recent.count("1"), len(self.lesson.recent)
        idle = self.lesson.offered - self.lesson.uses
        return self.called.share * dice.betavariate(1 + 2 * wins, 1 + 2 * (recent - wins) + max(0, idle))


def chosen(called: Sequence[Called], there: Mapping[str, Lesson], room: int) -> Sequence[Lesson]:
    """Choose of what is called for. One is tried at a time, so that it is known what an outcome says of it.

    What works is not experimented with: nothing is tried where an active lesson has the same trigger, unless its last
    two uses went badly.
    """
    choices = [_Choice(one, there[one.id]) for one in called if one.id in there]
    active = sorted((one for one in choices if one.lesson.state == "active"), key=lambda one: one.rank, reverse=True)
    picked: list[_Choice] = []
    for one in active:
        size = len(one.lesson.line.encode())
        if len(picked) < _MOST and size <= room:
            picked.append(one)
            room -= size
    dice = random.Random(f"{[(one.id, one.share) for one in called]}{sum(one.offered for one in there.values())}")  # noqa: S311 - the same for the same, and no secret
    tried = [(one.drawn(dice), one) for one in choices if one.lesson.state == "trial"]
    for _, one in sorted(tried, key=lambda pair: (-pair[0], pair[1].lesson.id)):
        works = any(
            alike(one.called.words, other.called.words) and not other.lesson.recent.endswith("00") for other in active
        )
        if not works and len(picked) < _MOST and len(one.lesson.line.encode()) <= room:
            picked.append(one)
            break
    return [one.lesson for one in picked]
