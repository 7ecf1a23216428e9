"""Who is at work: the children of each session, a place for each, and the command that shows and stops them."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from attrs import field

from hermes_core.types import Principal, Session, SlashCommand
from hermes_core.values import define

if TYPE_CHECKING:
    from hermes_tool_delegate.child import Result

WAITS = "waits for a place"
_KEPT = 100  # sessions whose turns are counted
_STEPS = 200  # the last ones that are kept


@define(eq=False)
class Worker:
    """One child at work, or waiting for a place. ``number`` is its name in its session."""

    number: int
    goal: str
    work: "asyncio.Future[Result]"
    began: float = field(factory=time.monotonic)
    since: float = field(factory=time.time)
    session_id: str = ""
    last: str = WAITS
    stopped: bool = False
    steps: deque[str] = field(factory=lambda: deque(maxlen=_STEPS))

    def step(self, session_id: str, text: str) -> None:
        """Note what it does now."""
        self.session_id, self.last = session_id, text
        self.steps.append(text)

    def stop(self) -> None:
        """End it; whoever waits for it is told that a person did."""
        self.stopped = True
        self.work.cancel()


class Roster:
    """The children of all sessions of this process."""

    def __init__(self, places: int, person_places: int) -> None:
        self._places, self._person_places = places, person_places
        self._persons: WeakValueDictionary[Principal, asyncio.Semaphore] = WeakValueDictionary()
        self._workers: dict[str, list[Worker]] = {}
        self._free: dict[str, asyncio.Semaphore] = {}
        self._begun: dict[str, tuple[str, int]] = {}  # by session: the turn, and how many children it has started

    def begin(self, session: Session, most: int) -> bool:
        """Count one more child of the turn that runs; False when it has started so many."""
        turn, count = self._begun.pop(session.id, ("", 0))
        count = count + 1 if turn == session.turn else 1
        self._begun[session.id] = session.turn, min(count, most + 1)
        if len(self._begun) > _KEPT:
            del self._begun[next(iter(self._begun))]
        return count <= most

    @asynccontextmanager
    async def place(self, worker: Worker, session: Session, *, leaf: bool) -> AsyncIterator[None]:
        """A place to work in, when one is free, in the session and among its person's.

        Only who is a ``leaf`` takes one of the person's: who waits for others would keep them from theirs.
        """
        persons = self._persons.setdefault(session.owner, asyncio.Semaphore(self._person_places))
        free = self._free.setdefault(session.id, asyncio.Semaphore(self._places))
        async with free, persons if leaf else nullcontext():
            worker.last = "begins"
            yield

    def enter(self, session: Session, goal: str, work: "asyncio.Future[Result]") -> Worker:
        """Write a child down."""
        there = self._workers.setdefault(session.id, [])
        worker = Worker(number=there[-1].number + 1 if there else 1, goal=goal, work=work)
        there.append(worker)
        return worker

    def leave(self, session: Session, worker: Worker) -> None:
        """Cross a child out."""
        there = self._workers.get(session.id, [])
        there.remove(worker)
        if not there:
            self._workers.pop(session.id, None)
            self._free.pop(session.id, None)

    def at_work(self, session: Session) -> list[Worker]:
        """The children of a session."""
        return list(self._workers.get(session.id, ()))


def agents_command(roster: Roster) -> SlashCommand:
    """``/agents``: the children at work for the session it is typed into."""

    async def run(session: Session, rest: str) -> str:
        workers = roster.at_work(session)
        verb, _, which = rest.strip().partition(" ")
        if verb not in ("", "stop"):
            return "Write /agents, /agents stop NUMBER or /agents stop all."
        if verb != "stop":
            return "\n".join(map(_line, workers)) or "No child agent is at work here."
        chosen = [w for w in workers if which.strip() in (str(w.number), "all")]
        for worker in chosen:
            worker.stop()
        stopped = ", ".join(str(w.number) for w in chosen)
        return f"Stopped: {stopped}." if chosen else f"No child agent here has the number {which.strip()!r}."

    return SlashCommand(name="agents", run=run)


def _line(worker: Worker) -> str:
    seconds = int(time.monotonic() - worker.began)
    goal = " ".join(worker.goal.split())
    return f"    {worker.number}  {seconds // 60}:{seconds % 60:02d}  {_short(goal, 60)}  ▸ {_short(worker.last, 80)}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
