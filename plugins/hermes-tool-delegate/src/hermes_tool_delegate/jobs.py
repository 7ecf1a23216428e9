"""The children at work, as whoever shows what runs beside a conversation sees them."""

from collections.abc import Sequence

from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session
from hermes_tool_delegate.roster import WAITS, Roster, Worker

_MOST = 8_000  # characters of steps


class Children(Jobs):
    """The children of a session. What one used is known when it ends."""

    name = "delegate"

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    async def running(self, session: Session) -> Sequence[Job]:
        """Those at work and those that wait for a place, oldest first."""
        return [_job(worker) for worker in self._roster.at_work(session)]

    async def stop(self, session: Session, job: str) -> bool:
        """End one; the model is told that the person did."""
        worker = self._worker(session, job)
        if worker is None or worker.work.done():
            return False
        worker.stop()
        return True

    async def output(self, session: Session, job: str) -> str:
        """What it was told to do, and its last steps."""
        worker = self._worker(session, job)
        if worker is None:
            return ""
        steps = "\n".join(f"▸ {' '.join(step.split())}" for step in worker.steps)
        return f"{worker.goal[:_MOST]}\n\n{steps[-_MOST:]}".strip()

    def _worker(self, session: Session, job: str) -> Worker | None:
        return next((w for w in self._roster.at_work(session) if str(w.number) == job), None)


def _job(worker: Worker) -> Job:
    state = "stopping" if worker.stopped else "waiting" if worker.last == WAITS else "running"
    return Job(
        id=str(worker.number),
        kind="agent",
        title=" ".join(worker.goal.split())[:300],
        since=worker.since,
        state=state,
        last=" ".join(worker.last.split())[:300],
        session_id=worker.session_id,
    )
