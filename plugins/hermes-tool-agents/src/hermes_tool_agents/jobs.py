"""The agents at work, as whoever shows what runs beside a conversation sees them."""

import asyncio
from collections.abc import Sequence
from time import time
from typing import Any

from attrs import Factory

from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session
from hermes_core.values import define

__all__ = ["AtWork", "Worker", "Working", "at_work"]

_STEPS = 50  # of the last steps of one that are kept


@define(kw_only=True, eq=False)
class Worker:
    """One agent at work on a task. ``steps`` are what it did last."""

    id: str
    agent: str
    task: str
    session_id: str
    work: asyncio.Task[Any] | None = None
    since: float = Factory(time)
    stopped: bool = False
    steps: list[str] = Factory(list)

    def step(self, text: str) -> None:
        """Note what it does now."""
        self.steps = [*self.steps[1 - _STEPS :], " ".join(text.split())[:300]]


class AtWork:
    """All of a kernel."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._number = 0

    def begin(self, agent: str, task: str, session: Session) -> Worker:
        """Note one that begins."""
        self._number += 1
        worker = Worker(id=str(self._number), agent=agent, task=task, session_id=session.id)
        self._workers.append(worker)
        return worker

    def end(self, worker: Worker) -> None:
        """Forget one that has ended."""
        self._workers.remove(worker)

    def of(self, session: Session) -> Sequence[Worker]:
        """Return those of a session, oldest first."""
        return [one for one in self._workers if one.session_id == session.id]


def at_work(state: dict[str, Any]) -> AtWork:
    """Return those of a kernel, by the state of its plugin."""
    found: AtWork = state.setdefault("at_work", AtWork())
    return found


class Working(Jobs):
    """Those of a session."""

    name = "agents"

    def __init__(self, workers: AtWork) -> None:
        self._workers = workers

    async def running(self, session: Session) -> Sequence[Job]:
        return [
            Job(
                id=one.id,
                kind="agent",
                title=f"{one.agent}: {' '.join(one.task.split())}"[:300],
                since=one.since,
                state="stopping" if one.stopped else "running",
                last=one.steps[-1] if one.steps else "",
                session_id=one.session_id,
            )
            for one in self._workers.of(session)
        ]

    async def stop(self, session: Session, job: str) -> bool:
        worker = self._worker(session, job)
        if worker is None or worker.stopped:
            return False
        worker.stopped = True
        if worker.work:
            worker.work.cancel()
        return True

    async def output(self, session: Session, job: str) -> str:
        worker = self._worker(session, job)
        if worker is None:
            return ""
        return "\n".join([worker.task[:4000], "", *(f"▸ {step}" for step in worker.steps)])

    def _worker(self, session: Session, job: str) -> Worker | None:
        return next((one for one in self._workers.of(session) if one.id == job), None)
