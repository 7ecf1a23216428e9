"""What a crash cut off goes on by itself when the server starts: runs, and turns in sessions that began here."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import JSON, Principal, ToolCall, ToolResult
from hermes_platform_api.client_tools import is_client_tool
from hermes_platform_api.kept import Kept
from hermes_platform_api.past import owner_of
from hermes_platform_api.turns import Turns

__all__ = ["Begun", "go_on", "play_orders"]

_RUNS, _HERE = "runs", "api"  # the document, and where a session began
_LOOK = 5.0  # seconds between two looks for what plugins ordered
_LAST = 30  # messages at the end, among which is what the model said last, with what its calls gave
_MOST = 1000  # runs that are kept in mind; the oldest beyond are found again by who asks for them only


class Begun:
    """The runs that have no end yet, by their ids, each with its person. It is stored when a method returns."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self.left: dict[str, str] = {}  # of those before this server began, what was not looked at yet
        self._one = asyncio.Lock()  # many begin at once, and all of them change one document
        self._ending = set[asyncio.Task[None]]()

    async def add(self, event: str, person: str) -> None:
        """Keep one in mind, before it begins."""

        def more(before: JSON | None) -> JSON:
            known = dict(before) if isinstance(before, dict) else {}
            return {**dict(list(known.items())[1 - _MOST :]), event: person}

        await self._change(more)

    async def remove(self, event: str) -> None:
        """Forget one: it has its end."""

        def less(before: JSON | None) -> JSON | None:
            known = dict(before) if isinstance(before, dict) else {}
            known.pop(event, None)
            return known or None

        await self._change(less)

    def watch(self, event: str, kept: Kept) -> None:
        """Forget one as soon as it has its end; one that was left has none."""

        def over(_: object) -> None:
            if kept.goes_on:
                return
            ending = asyncio.ensure_future(self.remove(event))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

        if kept.task:
            kept.task.add_done_callback(over)

    async def _change(self, edit: Callable[[JSON | None], JSON | None]) -> None:
        """Change what is kept in mind; where that cannot be, a crash leaves the run to who asks for it again."""
        async with self._one:
            with contextlib.suppress(HermesError):
                await self._ctx.documents.change(_RUNS, edit, owner=self._ctx.owner)

    async def look(self) -> None:
        """Find those that another server left, before this one listens."""
        with contextlib.suppress(HermesError):
            document = await self._ctx.documents.get(_RUNS, owner=self._ctx.owner)
            known = document.value if document else None
            self.left = {event: str(person) for event, person in known.items()} if isinstance(known, dict) else {}


async def go_on(ctx: PluginContext, turns: Turns, begun: Begun, persons: Iterable[str], seconds: float) -> None:
    """Take up runs first, as they can ask; then the sessions of the owner and of ``persons`` that began here."""
    runs = dict(begun.left)
    for event, person in runs.items():
        try:
            past = await ctx.turns.past(event, owner=owner_of(ctx, person))
            if past is None or past.state in ("done", "failed", "interrupted"):
                await begun.remove(event)
            elif kept := await turns.take_up(event, person, seconds):
                begun.watch(event, kept)
        except HermesError as error:
            ctx.log.warning("a run that was cut off could not go on: %s", error)
        finally:
            del begun.left[event]
    for person in dict.fromkeys(["", *persons, *runs.values()]):
        owner = owner_of(ctx, person)
        for session in await ctx.turns.interrupted(owner=owner):
            here = (await ctx.sessions.get(owner, session)).origin == _HERE
            if here and not turns.busy(session) and not await _waits(ctx, owner, session):
                await turns.finish(session, person)


async def play_orders(ctx: PluginContext, turns: Turns, persons: Iterable[str]) -> None:
    """Play, until cancelled, what plugins order in sessions that began here: that a process ended, for one.

    Whoever orders a turn to play it at once has begun it by the second look.
    """
    seen, mine = frozenset[tuple[str, int]](), f"{ctx.kind}/{ctx.name}"  # what its clients asked, it plays itself
    while True:
        await asyncio.sleep(_LOOK)
        found = set()
        for person in dict.fromkeys(["", *persons]):
            owner = owner_of(ctx, person)
            with contextlib.suppress(HermesError):  # the next look sees it
                for session in await ctx.turns.interrupted(owner=owner):
                    first = next(iter(await ctx.host.turns.waiting(session)), None)
                    came = first.envelope if first else None
                    theirs = came is not None and "/" in came.platform and came.platform != mine
                    if first is None or not theirs or turns.busy(session):
                        continue
                    if (await ctx.sessions.get(owner, session)).origin != _HERE or await ctx.host.turns.cut(session):
                        continue
                    found.add((session, first.id))
                    if (session, first.id) in seen:
                        await turns.finish(session, person)
        seen = frozenset(found)


async def _waits(ctx: PluginContext, owner: Principal, session: str) -> bool:
    """Whether the turn that was cut off waits for its client: it goes on when that brings what its tools gave."""
    rows = await ctx.sessions.read(owner, session, window=_LAST)
    parts = [part for _, message in rows for part in message.parts]
    given = {part.call_id for part in parts if isinstance(part, ToolResult)}
    calls = (part for part in parts if isinstance(part, ToolCall) and is_client_tool(part.name))
    return any(call.id not in given for call in calls)
