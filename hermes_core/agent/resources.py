"""What plugins keep open for sessions: opened at first use, closed when idle, at rest, at exit, or by a person."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from attrs import field

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import UnknownName
from hermes_core.kinds import Jobs, Resource, Workspace
from hermes_core.types import Job, Session
from hermes_core.values import define

__all__ = ["Resources"]

T = TypeVar("T")
_PATIENCE = 3.0  # seconds that a person waits who stops one


@define(eq=False)
class _Held:
    """One resource of one session. ``since`` is when its thing was opened; 0: it is not open."""

    label: str
    resource: Resource
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    thing: Any = None
    since: float = 0.0
    users: int = 0
    timer: asyncio.TimerHandle | None = None

    @property
    def where(self) -> str:
        return f"register_resources: {self.resource.name}"


class Resources(Jobs):
    """The open resources of this process, by session; a person sees and stops them as other work."""

    name = "resource"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._held: dict[str, dict[str, _Held]] = {}
        self._closing: set[asyncio.Task[bool]] = set()

    async def use(
        self, label: str, name: str, session: Session, workspace: Workspace
    ) -> tuple[Any, Callable[[], None]]:
        """Return what plugin ``label`` keeps under a name for a session, and how to say that a call needs it no more.

        Raises UnknownName when neither it nor another, for all, has one of that name, and what opening it raises.
        """
        held = self._held.setdefault(session.id, {}).setdefault(name, _Held(*self._known(label, name)))
        held.users += 1
        try:
            async with held.lock:
                if held.since and not self._says(held, held.resource.alive, otherwise=False):
                    await self._close(held)
                if not held.since:
                    held.thing, held.since = await held.resource.open(session, workspace), time.time()
        except BaseException:
            self._done(held)
            raise
        return held.thing, partial(self._done, held)

    def _known(self, label: str, name: str) -> tuple[str, Resource]:
        self._runtime.loader.load_contributing("resources", [name])
        rows = self._runtime.dispatch.contributions("register_resources")
        found = {one.name: (by, one) for by, one in rows if isinstance(one, Resource) and (by == label or one.shared)}
        if name not in found:
            raise UnknownName("resource", name, [*found])
        return found[name]

    def _says(self, held: _Held, ask: Callable[[Any], T], *, otherwise: T) -> T:
        """Return what a plugin says of its thing; ``otherwise`` where it fails, which is recorded."""
        try:
            return ask(held.thing)
        except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
            self._runtime.dispatch.failed(held.label, held.where, error)
            return otherwise

    def _done(self, held: _Held) -> None:
        held.users -= 1
        if held.timer:
            held.timer.cancel()
        if held.since and not held.users:
            held.timer = asyncio.get_running_loop().call_later(held.resource.idle, self._idle, held)

    def _idle(self, held: _Held) -> None:
        if held.users or not held.since:
            return
        if self._says(held, held.resource.busy, otherwise=False):
            held.timer = asyncio.get_running_loop().call_later(held.resource.idle, self._idle, held)
            return
        self._begin(self._end(held, idle=True))

    def _begin(self, ending: Coroutine[Any, Any, bool]) -> asyncio.Task[bool]:
        task = asyncio.ensure_future(ending)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    async def _end(self, held: _Held, *, idle: bool = False) -> bool:
        """Close it; whether it was open. One that is used again meanwhile is not ``idle``."""
        async with held.lock:
            if not held.since or (idle and held.users):
                return False
            await self._close(held)
            return True

    async def _close(self, held: _Held) -> None:
        thing, held.thing, held.since = held.thing, None, 0.0  # whatever comes of it: it is not used again
        if held.timer:
            held.timer.cancel()
        await self._runtime.dispatch.shielded(held.label, held.where, partial(held.resource.close, thing))

    def busy(self, session_id: str) -> bool:
        """Tell whether something goes on in what a session keeps open."""
        opened = [held for held in self._held.get(session_id, {}).values() if held.since]
        return any(held.users or self._says(held, held.resource.busy, otherwise=False) for held in opened)

    async def end(self, *sessions: str) -> None:
        """Close what is open for sessions, or, when none is named, all there is."""
        gone = [self._held.pop(name, {}) for name in sessions or tuple(self._held)]
        await asyncio.gather(*(self._end(held) for one in gone for held in one.values()), *self._closing)

    # --- for a person ---------------------------------------------------------------------------------------------

    async def running(self, session: Session) -> Sequence[Job]:
        return [
            Job(
                id=name,
                kind="other",
                title=str(self._says(held, held.resource.describe, otherwise=name)),
                since=held.since,
                state="running" if held.users or self._says(held, held.resource.busy, otherwise=False) else "idle",
            )
            for name, held in self._held.get(session.id, {}).items()
            if held.since
        ]

    async def stop(self, session: Session, job: str) -> bool:
        held = self._held.get(session.id, {}).get(job)
        if held is None or not held.since:
            return False
        await asyncio.wait([self._begin(self._end(held))], timeout=_PATIENCE)  # its author has longer to let go of it
        return True
