"""What happens in the conversations of a person while clients look: new messages, and what waits for a yes.

Nothing is watched while nobody asks: each look compares what there is with the last one. So a client that was away
misses nothing but what no longer fits into the queue, and is told so.
"""

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any
from uuid import uuid4

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import JSON, Principal, SessionRow
from hermes_platform_mcp_serve.asking import approval_row
from hermes_platform_mcp_serve.conversations import message_row
from hermes_platform_mcp_serve.desk import Desk

__all__ = ["poll", "wait"]

_QUEUE, _GIVEN = 1_000, 20
_LOOK = 0.2  # seconds between two looks of who waits
_ROWS = 100  # conversations that are looked at
_READ = 200  # messages of one conversation that are taken up at one look
_PATIENCE = 30_000  # milliseconds


class Watch:
    """What one person was told of. A cursor is of this process: another one says that it does not know it."""

    def __init__(self) -> None:
        self.mark = uuid4().hex[:8]
        self.last = 0
        self.events: deque[dict[str, JSON]] = deque(maxlen=_QUEUE)
        self._seen: dict[str, tuple[float, int]] = {}
        self._asked: dict[str, JSON] = {}
        self._began = 0.0
        self._looked = -inf
        self._looking = asyncio.Lock()

    async def look(self, ctx: PluginContext, owner: Principal, *, again: float = 0.0) -> None:
        """Take up what is new, unless somebody else did within so many seconds."""
        async with self._looking:
            if time.monotonic() - self._looked < again:
                return
            first = not self._began
            self._began = self._began or time.time()
            for row in reversed(await ctx.sessions.rows(owner, limit=_ROWS)):
                await self._look_at(ctx, owner, row, first=first)
            asked = {one.id: approval_row(one) for one in await ctx.approvals.list(owner, limit=100)}
            for key, one in asked.items():
                if key not in self._asked and not first:
                    self._add("permission_asked", str(one["session_key"]), permission=one)
            for key in self._asked.keys() - asked.keys():
                gone = self._asked[key]
                assert isinstance(gone, dict), "it is a row"
                self._add("permission_settled", str(gone["session_key"]), id=key)
            self._asked, self._looked = dict(asked), time.monotonic()

    async def _look_at(self, ctx: PluginContext, owner: Principal, row: SessionRow, *, first: bool) -> None:
        key, now = row.session.id, (row.updated, row.messages)
        before = self._seen.get(key)
        if before == now:
            return
        known = before[1] if before else 0
        if first or (before is None and row.session.created < self._began):  # it was there before anybody looked
            self._seen[key] = (row.updated, await _highest(ctx, owner, key))
            return
        try:
            found = await ctx.sessions.read(owner, key, window=min(_READ, max(1, row.messages - known) + 10))
        except UnknownName:  # deleted since
            return
        for number, message in found:
            if number > known:
                self._add("message", key, message=message_row(number, message))
        self._seen[key] = (row.updated, max([known, *(number for number, _ in found)]))

    def _add(self, kind: str, session: str, **more: JSON) -> None:
        self.last += 1
        self.events.append({"cursor": f"{self.mark}.{self.last}", "type": kind, "session_key": session, **more})

    def after(self, cursor: str, session: str, limit: int) -> tuple[Sequence[dict[str, JSON]], str, bool]:
        """Return what came after a cursor, where that ends, and whether something is lost in between."""
        mark, _, number = cursor.partition(".")
        ours = mark == self.mark and number.isascii() and number.isdigit()
        at = min(int(number), self.last) if ours else (self.last if not cursor else 0)
        oldest = self.last - len(self.events)
        found = [one for one in self.events if int(str(one["cursor"]).partition(".")[2]) > at]
        mine = [one for one in found if not session or one["session_key"] == session]
        given = mine[:limit]
        ends = str(given[-1]["cursor"]) if len(mine) > limit else f"{self.mark}.{self.last}"
        return given, ends, at < oldest or (bool(cursor) and not ours)


async def _highest(ctx: PluginContext, owner: Principal, session: str) -> int:
    try:
        found = await ctx.sessions.read(owner, session, window=1)
    except UnknownName:
        return 0
    return max((number for number, _ in found), default=0)


def _watch(desk: Desk) -> Watch:
    watches = desk.ctx.state.setdefault("watches", {})
    found = watches.setdefault(desk.owner, Watch())
    assert isinstance(found, Watch)
    return found


async def poll(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``events_poll``."""
    watch = _watch(desk)
    await watch.look(desk.ctx, desk.owner)
    return _answer(desk, watch, given)


async def wait(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``events_wait``."""
    watch, given = _watch(desk), dict(given)
    ends = time.monotonic() + given.get("timeout_ms", _PATIENCE) / 1000
    await watch.look(desk.ctx, desk.owner)
    given.setdefault("after_cursor", f"{watch.mark}.{watch.last}")
    while True:
        found, _, lost = watch.after(given["after_cursor"], given.get("session_key", ""), 1)
        if found or lost or time.monotonic() >= ends:
            return _answer(desk, watch, given)
        await asyncio.sleep(min(_LOOK, max(0.0, ends - time.monotonic())))
        await watch.look(desk.ctx, desk.owner, again=_LOOK / 2)


def _answer(desk: Desk, watch: Watch, given: Mapping[str, Any]) -> Any:
    found, cursor, lost = watch.after(
        given.get("after_cursor", ""), given.get("session_key", ""), given.get("limit", _GIVEN)
    )
    return desk.answer({"events": list(found), "cursor": cursor, **({"lost": True} if lost else {})})
