"""What runs beside a conversation, whoever runs it."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from hermes_core.agent.kernel import Kernel
from hermes_core.kinds import ConversationJobs, Jobs
from hermes_core.types import Job, Session

__all__ = ["JobsBeside"]


class JobsBeside(ConversationJobs):
    """The jobs of every plugin, and those of the kernel."""

    def __init__(self, runtime: Kernel, session: Session) -> None:
        self._runtime, self._session = runtime, session

    async def list(self) -> Sequence[Job]:
        found: list[Job] = []
        for label, name, one in self._sources():
            call = partial(one.running, self._session)
            its = await self._runtime.dispatch.shielded(label, "register_jobs", call) or ()
            found += (evolve(job, id=f"{name}:{job.id}") for job in its)
        return sorted(found, key=lambda job: job.since)

    async def stop(self, job: str) -> bool:
        return bool(await self._ask(job, lambda source, own: source.stop(self._session, own)))

    async def output(self, job: str) -> str:
        said = await self._ask(job, lambda source, own: source.output(self._session, own))
        return self._runtime.settings.masks.text(said or "")

    async def _ask(self, job: str, call: Callable[[Jobs, str], Coroutine[Any, Any, Any]]) -> Any:
        """Ask whoever runs a job; None when nobody does, or it fails."""
        name, _, own = job.partition(":")
        for label, known, one in self._sources():
            if known == name:
                return await self._runtime.dispatch.shielded(label, "register_jobs", partial(call, one, own))
        return None

    def _sources(self) -> Iterator[tuple[str, str, Jobs]]:
        resources = self._runtime.sessions.resources
        yield "the kernel", resources.name, resources
        self._runtime.loader.load_contributing("jobs")
        for label, one in self._runtime.dispatch.contributions("register_jobs"):
            if isinstance(one, Jobs):
                yield label, one.name, one
