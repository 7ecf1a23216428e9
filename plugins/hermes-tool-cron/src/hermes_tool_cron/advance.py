"""What becomes of the instants of a job that have come: pure, so that it can be tried with any clock."""

import hashlib
from collections.abc import Sequence

from attrs import evolve

from hermes_tool_cron.schedule import Schedule
from hermes_tool_cron.values import Job

__all__ = ["advance", "begun", "grace_of", "jitter_of", "schedule_of"]

_FEWEST, _MOST = 120.0, 7200.0  # seconds of grace
_AT_ONCE = 500  # instants of a job that are written down in one transaction


def schedule_of(job: Job) -> Schedule:
    """Return the schedule of a job. Raises UserError, where a time zone is not known here."""
    from hermes_tool_cron.schedule import parse

    return parse(job.schedule, job.zone, job.anchor)


def jitter_of(job: Job, instant: float) -> float:
    """Return by how many seconds an instant is later: another number for each, and the same for every scheduler."""
    if not job.options.jitter:
        return 0.0
    digest = hashlib.sha256(f"{job.id}@{instant:.0f}".encode()).digest()
    return float(int.from_bytes(digest[:8], "big") % (job.options.jitter + 1))


def grace_of(job: Job, schedule: Schedule, instant: float) -> float:
    """Return how late an instant may be run: what the job says, or half of its period, two minutes to two hours."""
    if job.options.grace:
        return float(job.options.grace)
    if schedule.kind == "once":
        return _MOST
    return min(_MOST, max(_FEWEST, schedule.period(instant) / 2))


def begun(job: Job, now: float) -> Job:
    """Return a job that waits for its first instant after ``now``; done where none is."""
    due = schedule_of(job).after(now)
    return evolve(job, due=due, at=due + jitter_of(job, due) if due else 0.0, state="active" if due else "done")


def advance(job: Job, now: float, *, busy: bool) -> tuple[Job, Sequence[tuple[float, str, str]]]:
    """Return the job as it waits for what comes next, and each instant that has come: its state, and why.

    ``busy``: a run of the job is not over. Of instants that passed while nobody looked, only the last is run, where it
    is not too late. There may be more than are given: then the job is due at once again.
    """
    schedule, due, came = schedule_of(job), job.due, list[float]()
    while due and due + jitter_of(job, due) <= now and len(came) < _AT_ONCE:
        came.append(due)
        due = schedule.after(due)
    at = due + jitter_of(job, due) if due else 0.0
    told, fired = list[tuple[float, str, str]](), job.fired
    for place, instant in enumerate(came):
        late = now - instant - jitter_of(job, instant)
        if late > grace_of(job, schedule, instant):
            told.append((instant, "missed", f"nothing ran the jobs until {_ago(late)} later"))
        elif place < len(came) - 1 or (due and at <= now):
            told.append((instant, "coalesced", "the next instant had come, too, when the jobs were looked at"))
        elif busy:
            told.append((instant, "skipped", "the run before was not over"))
        else:
            fired += 1
            told.append((instant, "due", ""))
    left = evolve(job, due=due, at=at, fired=fired, number=job.number + 1)
    if not due or (job.options.repeat and fired >= job.options.repeat):
        left = evolve(left, due=0.0, at=0.0, state="done")
    return left, told


def _ago(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} seconds"
