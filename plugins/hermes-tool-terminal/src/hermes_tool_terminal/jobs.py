"""The processes of a session, for whoever looks at what runs beside it and ends it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session
from hermes_tool_terminal.processes import Running, table_of

__all__ = ["Background"]

_MOST = 8_000  # characters of output


class Background(Jobs):
    """Those that run."""

    name = "process"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def running(self, session: Session) -> Sequence[Job]:
        """Those that run, oldest first."""
        return [_job(one) for one in self._known(session).values() if not one.ended]

    async def stop(self, session: Session, job: str) -> bool:
        """End one with all it started; the model is told that the person did."""
        one = self._known(session).get(job)
        if one is None or one.ended:
            return False
        await table_of(self._ctx).sessions[session.id].end(one, "the person ended it", told=False)
        return True

    async def output(self, session: Session, job: str) -> str:
        """The command, and what it shows or said last."""
        one = self._known(session).get(job)
        if one is None:
            return ""
        return f"$ {one.record.command[:_MOST]}\n\n{one.output.screen() or one.output.last(_MOST)}".strip()

    def _known(self, session: Session) -> dict[str, Running]:
        processes = table_of(self._ctx).sessions.get(session.id)
        return processes.known if processes else {}


def _job(one: Running) -> Job:
    record = one.record
    last = one.output.last(2_000).rstrip().rpartition("\n")[2]
    return Job(
        id=record.id,
        kind="process",
        title=" ".join(record.command.split())[:300],
        since=record.since,
        last=" ".join(last.split())[:300],
    )
