"""What runs beside a conversation, whoever runs it."""

from collections.abc import Iterator, Sequence
from functools import partial

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session

__all__ = ["job_output", "jobs", "stop_job"]


async def jobs(runtime: Runtime, session: Session) -> Sequence[Job]:
    """All of it, oldest first; the id of each says who runs it. A plugin that fails to say adds none."""
    found: list[Job] = []
    for label, name, one in _sources(runtime):
        running = await runtime.dispatch.shielded(label, "register_jobs", partial(one.running, session)) or ()
        found += (evolve(job, id=f"{name}:{job.id}") for job in running)
    return sorted(found, key=lambda job: job.since)


async def stop_job(runtime: Runtime, session: Session, job: str) -> bool:
    """Stop one by its id; False when it does not run any more."""
    name, _, own = job.partition(":")
    for label, known, one in _sources(runtime):
        if known == name:
            return bool(await runtime.dispatch.shielded(label, "register_jobs", partial(one.stop, session, own)))
    return False


async def job_output(runtime: Runtime, session: Session, job: str) -> str:
    """The last that one said."""
    name, _, own = job.partition(":")
    for label, known, one in _sources(runtime):
        if known == name:
            said = await runtime.dispatch.shielded(label, "register_jobs", partial(one.output, session, own))
            return runtime.settings.masks.text(said or "")
    return ""


def _sources(runtime: Runtime) -> Iterator[tuple[str, str, Jobs]]:
    runtime.loader.load_contributing("jobs")
    for label, one in runtime.dispatch.contributions("register_jobs"):
        if isinstance(one, Jobs):
            yield label, one.name, one
