"""The rules of rows and ledger over values in memory: the world at its size, in seconds.

It decides by the same functions as the plugin, and repeats what those of them do that speak to tables; a test plays a
small world on both, and they come out the same to the last lesson.
"""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.types import Principal
from hermes_tool_lessons import gates
from hermes_tool_lessons.chances import WINDOW, Rates, estimate, helps, mean, verdict
from hermes_tool_lessons.matching import Index
from hermes_tool_lessons.selecting import chosen
from hermes_tool_lessons.values import LIVE, REPLAY, Draft, Event, Lesson, lesson_id

__all__ = ["Paper"]

_TRIED, _PROVEN = 24, 0.75  # as in rows and ledger


class Paper:
    """Rows, ledger and selector of one person. Triggers are alike where they are the same."""

    def __init__(self) -> None:
        self.lessons: dict[str, Lesson] = {}
        self.alike: dict[str, list[str]] = {}
        self.rates = Rates()
        self.told_in: dict[str, list[str]] = {}
        self.held_in: dict[str, Sequence[str]] = {}
        self.followed: dict[str, dict[str, bool]] = {}
        self.at = self.ends = self.live = self.let_in = 0
        self.book = Index()

    async def index(self, owner: Principal) -> Index:
        return self.book

    async def pick(self, index, owner, text, places, room):
        called = index.called(text, places)
        there = {one.id: self.lessons[one.id] for one in called}
        return chosen(called, there, self.rates, room) if called else ((), ())

    async def select(self, owner, text, places, room):
        return (await self.pick(self.book, owner, text, places, room))[0]

    async def list(self, owner: Principal, states: Sequence[str] = ()) -> Sequence[Lesson]:
        return [one for one in self.lessons.values() if not states or one.state in states]

    async def rev(self) -> int:
        return self.at

    async def tell(self, owner, session, turn, told) -> None:
        self.told_in[turn] = list(told)
        for name in told:
            self.lessons[name] = evolve(self.lessons[name], offered=self.lessons[name].offered + 1)

    async def hold(self, owner, session, turn, held) -> None:
        self.held_in[turn] = held

    async def write(self, owner, *what: Event) -> None:
        for one in what:
            self.followed.setdefault(one.turn, {})[one.lesson] = one.value > 0

    async def settle(self, owner, session, turn, *, good, why, mode) -> None:
        if held := self.held_in.pop(turn, ()):
            for name in held:
                one = self.lessons[name]
                self.lessons[name] = evolve(one, held=one.held + 1, held_won=one.held_won + good)
            self.rates = evolve(self.rates, held=self.rates.held + 1, won=self.rates.won + good)
        known = self.rates
        there = [self.lessons[one] for one in self.told_in.pop(turn, ()) if self.lessons[one].state in LIVE]
        did = self.followed.pop(turn, {})
        heard = [one for one in there if did.get(one.id, True)]
        proven = [one for one in heard if one.state == "active" and one.uses > 2 and mean(one.recent) >= _PROVEN]
        blamed = heard if good else [one for one in heard if one not in proven] or heard
        for one in blamed:
            self._credit(one.id, known, good=good, mode=mode)
        for one in there:
            if one not in heard and verdict(one, known) == "idle":
                self._retire(one.id, mode)

    async def estimate(self, owner) -> None:
        if self.ends >= self.rates.seen + max(20, self.rates.seen // 20):
            used = [one for one in self.lessons.values() if one.uses]
            self.rates = estimate(used, self.rates, self.ends)

    async def propose(self, owner, draft: Draft, *, mode, most, author, replays=False):
        if why := gates.refusal(draft):
            return None, why
        name = lesson_id(owner, draft.scope, draft.place, draft.trigger, draft.text)
        if there := self.lessons.get(name):
            sources = tuple(dict.fromkeys((*there.sources, *draft.sources)))[-20:]
            if sources != there.sources:
                there = self.lessons[name] = evolve(there, sources=sources)
                waits = there.state != "candidate" or there.asks or mode not in ("trial", "auto") or there.uses
                if not waits and not self._waits(draft.trigger, most):
                    self._save(evolve(there, state="trial"))
            return None, "there"
        asks = gates.needs_person(draft) or (REPLAY if replays else "")
        trial = mode in ("trial", "auto") and not asks and not self._waits(draft.trigger, most)
        lesson = Lesson(id=name, profile=owner.profile, person=owner.person, trigger=draft.trigger, text=draft.text,
                        state="candidate", sources=tuple(draft.sources), asks=asks)  # fmt: skip
        self.alike.setdefault(draft.trigger, []).append(name)
        return self._save(evolve(lesson, state="trial" if trial else "candidate")), ""

    async def replayed(self, name: str, *, mode, most, broke, kept) -> None:
        there = self.lessons[name]
        if broke:
            self._save(evolve(there, asks=broke))
            return
        wait = self._waits(there.trigger, most)
        self._save(evolve(there, asks="", state="candidate" if wait else "trial"))

    def _save(self, lesson: Lesson) -> Lesson:
        old = self.lessons.get(lesson.id)
        was = old is not None and old.state in LIVE
        self.let_in += lesson.state in LIVE and (not was or (old is not None and old.state != lesson.state))
        self.live += (lesson.state in LIVE) - was
        self.lessons[lesson.id] = lesson
        self.at += 1
        if lesson.state in LIVE:
            self.book.put(lesson.id, lesson.trigger, lesson.scope, lesson.place)
        else:
            self.book.drop(lesson.id)
        return lesson

    def _like(self, trigger: str, *states: str) -> Sequence[Lesson]:
        return [one for name in self.alike.get(trigger, ()) if (one := self.lessons[name]).state in states]

    def _waits(self, trigger: str, most: int) -> bool:
        if self.live >= most:
            return True
        there = self._like(trigger, *LIVE)
        if any(one.state == "active" and not one.recent.endswith("00") for one in there):
            return True
        tried = [one for one in there if one.state == "trial"]
        if len(tried) < _TRIED:
            return False
        known = [one for one in tried if one.offered]
        if not known:
            return True
        worst = min(known, key=lambda one: (helps(one, self.rates), -one.offered))
        if helps(worst, self.rates) > self.rates.once:
            return True
        self._save(evolve(worst, state="candidate"))
        return False

    def _credit(self, name: str, known: Rates, *, good: bool, mode: str) -> None:
        one, self.ends = self.lessons[name], self.ends + 1
        recent = f"{one.recent}{int(good)}"[-WINDOW:]
        one = self.lessons[name] = evolve(one, recent=recent, uses=one.uses + 1, wins=one.wins + good)
        said = verdict(one, known)
        if said == "harms":
            self._retire(name, mode)
        elif said == "helps" and one.state == "trial" and mode == "auto":
            self._save(evolve(one, state="active"))
            for other in self._like(one.trigger, "trial"):
                self._save(evolve(other, state="candidate"))

    def _retire(self, name: str, mode: str) -> None:
        one = self._save(evolve(self.lessons[name], state="retired"))
        waiting = self._like(one.trigger, "candidate") if mode in ("trial", "auto") else []
        clean = sorted((one for one in waiting if not one.asks), key=lambda one: (helps(one, self.rates), -one.offered))
        for other in clean[-1:]:
            self._save(evolve(other, state="trial"))
