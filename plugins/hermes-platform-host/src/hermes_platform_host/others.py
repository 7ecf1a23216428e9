"""What is played in a session by somebody else: another way in of this process, such as its API, or another process.

Nobody tells of it, so its rows are looked at, as long as a screen is there that wants to see them.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import (
    Approval,
    Called,
    Ended,
    Message,
    Question,
    Returned,
    Said,
    Started,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from hermes_platform_host.rooms import Room

__all__ = ["Others"]

_WINDOW = 50  # messages that are looked at, at once
_TURN = "elsewhere"


class Others:
    """What others do in one room. ``seen`` is the number of the last message that was shown there, or before it."""

    def __init__(self, ctx: PluginContext, room: "Room") -> None:
        self._ctx, self._room = ctx, room
        self.seen: int | None = None
        self.started: Started | None = None  # the turn of another that goes on
        self._answer = ""
        self._calls: dict[str, ToolCall] = {}
        self._asked: dict[str, asyncio.Task[None]] = {}

    async def skip(self) -> None:
        """Take what is stored by now for shown."""
        self.seen = None
        if self._room.watched:
            with contextlib.suppress(HermesError):  # nothing was said in it yet
                self.seen = await self._last()

    async def over(self) -> None:
        """Show the end of what another plays: the next turn is this host's, and begins."""
        if self.started:
            await self._show(busy=False)

    async def look(self) -> None:
        """Show what came since the last look."""
        if self._room.live:
            return
        with contextlib.suppress(HermesError):  # nothing was said in it yet, or the store is not there now
            busy = await self._ctx.turns.busy(self._room.session)
            if not self._room.live:  # a turn of this host's may have begun meanwhile
                await self._show(busy=busy)

    async def _last(self) -> int:
        rows = await self._ctx.sessions.read(self._ctx.owner, self._room.session, window=1)
        return rows[-1][0] if rows else 0

    async def _show(self, *, busy: bool) -> None:
        if self.seen is None:
            self.seen = await self._last()
        rows = await self._ctx.sessions.read(self._ctx.owner, self._room.session, window=_WINDOW)
        new = [(number, message) for number, message in rows if number > self.seen]
        if (busy or new) and not self.started:
            self._answer = ""
            session = await self._ctx.sessions.get(self._ctx.owner, self._room.session)
            known = {"provider": session.provider, "model": session.model}
            self.started = Started(session_id=session.id, turn_id=_TURN, **known)
            self._room.tell(self.started)
        for number, message in new:
            self.seen = number
            self._said(message)
        await self._questions(busy=busy)
        if self.started and not busy:
            self.started, self._calls = None, {}
            ended = Ended(
                session_id=self._room.session, turn_id=_TURN, answer=self._answer, reason="done", usage=Usage()
            )
            self._room.tell(ended)

    def _said(self, message: Message) -> None:
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        if message.role == "user" and text.strip():
            self._room.tell({"said": text.strip(), "by": None})
        elif message.role == "assistant" and text:
            self._answer = text
            self._room.tell(Said(text=text))
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._calls[part.id] = part
                self._room.tell(Called(call=part))
            elif isinstance(part, ToolResult) and (call := self._calls.get(part.call_id)):
                self._room.tell(Returned(call=call, result=part, seconds=0.0))

    # --- what is asked there ----------------------------------------------------------------------------------------

    async def _questions(self, *, busy: bool) -> None:
        """Put to this room what others ask in its session, and take away what was answered."""
        rows = await self._ctx.approvals.list(self._ctx.owner, limit=_WINDOW) if busy else ()
        asked = {one.id: one for one in rows if one.session_id == self._room.session}
        for name, task in list(self._asked.items()):
            if name not in asked:
                task.cancel()
                del self._asked[name]
        for name, one in asked.items():
            if name not in self._asked and name not in self._room.questions:
                self._asked[name] = asyncio.create_task(self._ask(one))

    async def _ask(self, row: Approval) -> None:
        choices = tuple(row.choices) or ("once", "deny")
        question = Question(
            id=row.id, kind="approval", subject=row.subject, risk=row.risk, choices=choices, covers=row.covers
        )
        verdict: Verdict | None = await self._room.put(question)
        if verdict is not None:
            with contextlib.suppress(HermesError):  # somebody was faster, which the next look shows
                await self._ctx.approvals.settle(self._ctx.owner, row.id, verdict)
