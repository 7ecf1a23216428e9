"""What runs beside a conversation, whoever runs it."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session

__all__ = ["output", "running", "stop"]


async def running(runtime: Runtime, session: Session) -> Sequence[Job]:
    """All of it, oldest first; the id of each says who runs it. A plugin that fails to say adds none."""
    found: list[Job] = []
    for label, name, one in _sources(runtime):
        its = await runtime.dispatch.shielded(label, "register_jobs", partial(one.running, session)) or ()
        found += (evolve(job, id=f"{name}:{job.id}") for job in its)
    return sorted(found, key=lambda job: job.since)


async def stop(runtime: Runtime, session: Session, job: str) -> bool:
    """Stop one by its id; False when it does not run any more."""
    return bool(await _ask(runtime, job, lambda source, own: source.stop(session, own)))


async def output(runtime: Runtime, session: Session, job: str) -> str:
    """The last that one said."""
    said = await _ask(runtime, job, lambda source, own: source.output(session, own))
    return runtime.settings.masks.text(said or "")


async def _ask(runtime: Runtime, job: str, call: Callable[[Jobs, str], Coroutine[Any, Any, Any]]) -> Any:
    """What whoever runs a job answers; None when nobody does, or it fails."""
    name, _, own = job.partition(":")
    for label, known, one in _sources(runtime):
        if known == name:
            return await runtime.dispatch.shielded(label, "register_jobs", partial(call, one, own))
    return None


def _sources(runtime: Runtime) -> Iterator[tuple[str, str, Jobs]]:
    yield "the kernel", runtime.sessions.resources.name, runtime.sessions.resources
    runtime.loader.load_contributing("jobs")
    for label, one in runtime.dispatch.contributions("register_jobs"):
        if isinstance(one, Jobs):
            yield label, one.name, one
