"""Children that work in the background: the call returns at once, and one turn tells what became of all of them.

What was handed out is written down before it is ordered, and crossed out after it was told; both are ordered under
names of their own. So a death at any moment neither loses a result nor tells it twice.
"""

import asyncio
import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError, UnknownName
from hermes_core.kinds import ToolContext
from hermes_core.types import JSON, Message, Session, Text, TurnBounds, TurnOrder
from hermes_tool_delegate.child import NEVER, SYSTEM, step_of
from hermes_tool_delegate.config import Config
from hermes_tool_delegate.roster import Roster, Worker

if TYPE_CHECKING:
    from hermes_tool_delegate.tool import Task

__all__ = ["Beside", "why"]

_NAME = "background"  # the document of a session: what was handed out and not told of yet, and when calls did that
_HOUR, _LOOK = 3600.0, 2.0
_MOST, _ALL = 12_000, 24_000  # characters of one answer, and of all that are told in one turn
_OPEN = ("waiting", "open", "cut")
_ASKS = "(No person wrote this: your child agents have ended. Go on with what they were for, or say what came of it.)"


class Beside:
    """The background children of one kernel."""

    def __init__(self, ctx: PluginContext, roster: Roster) -> None:
        self._ctx, self._roster = ctx, roster
        self._config: Config = ctx.config or Config()
        self._at_work: dict[str, asyncio.Task[None]] = {}  # by call

    async def begin(self, context: ToolContext, tasks: Sequence["Task"]) -> str:
        """Hand tasks out. Raises ToolError."""
        session = context.session
        if session.parent:
            raise ToolError("Nobody would hear of it: a child agent waits for its own.", hint="Leave out background.")
        call = hashlib.sha256(f"{session.id}\0{session.turn}\0{context.call_id}".encode()).hexdigest()[:16]
        await self._write_down(session, call, tasks)
        orders = [self._order(context, task, f"{call}:{number}") for number, task in enumerate(tasks, 1)]
        for task, order in zip(tasks, orders, strict=True):
            text = f"{task.goal}\n\nWhat you should know:\n{task.context}" if task.context else task.goal
            said = Text(text=text, quotes="another agent")
            message = Message(role="user", parts=(said,), untrusted=session.untrusted)
            await self._ctx.turns.queue(message, owner=session.owner, order=order)
        self._go_on(session, call, [task.goal for task in tasks])
        which = "It works" if len(tasks) == 1 else f"{len(tasks)} children work"
        return f"{which} in the background. You are told by a turn of its own when all is done; do not wait for it."

    async def look(self, session: Session) -> None:
        """Go on with what an earlier Hermes handed out, in a session that is taken up."""
        for call, goals in (await self._handed(session)).get("calls", {}).items():
            self._go_on(session, call, goals)

    async def _handed(self, session: Session) -> Mapping[str, Any]:
        found = await self._ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
        value = found.value if found and isinstance(found.value, dict) else {}
        return value if value.get("session") == session.id else {}  # not that of one that it was copied from

    async def _write_down(self, session: Session, call: str, tasks: Sequence["Task"]) -> None:
        def more(old: JSON | None) -> JSON:
            known = old if isinstance(old, dict) and old.get("session") == session.id else {}
            calls, begun = dict(known.get("calls", {})), [at for at in known.get("begun", ()) if at > now - _HOUR]
            if call not in calls and len(begun) >= self._config.background:
                most = self._config.background
                raise ToolError(
                    f"{most} calls within an hour have handed work to the background; that is the most.",
                    hint="Leave out background, and wait for the children.",
                )
            begun = begun if call in calls else [*begun, now]
            return {"session": session.id, "begun": begun, "calls": {**calls, call: [task.goal for task in tasks]}}

        now = time.time()
        await self._ctx.documents.change(_NAME, more, owner=session.owner, session_id=session.id)

    def _order(self, context: ToolContext, task: "Task", event: str) -> TurnOrder:
        """It may what its parent may at most, and nobody is asked: what needs a yes is refused."""
        session, config, known = context.session, self._config, context.offer().toolsets
        own = session.bounds or TurnBounds()
        if unknown := set(task.toolsets) - set(known.values()):
            raise ToolError(
                f"There is no toolset {min(unknown)!r} here.", hint=f"There is: {', '.join(known.values())}."
            )
        some = bool(task.toolsets) or own.tools is not None
        tools = [f"{of}/{name}" for name, of in known.items() if of in (task.toolsets or known.values())]
        levels = config.max_depth - 1 if task.role == "orchestrator" else 0
        bounds = TurnBounds(
            tools=tuple(tools) if some else None,
            without=(*own.without, *config.blocked_toolsets),
            never=tuple({*own.never, *NEVER}),
            mode="ask",
            deny=own.deny,
            calls=min(config.calls, own.calls or config.calls),
            tokens=own.tokens,
            money=own.money,
            seconds=min(config.seconds, own.seconds or config.seconds),
            levels=levels if own.levels is None else min(levels, max(0, own.levels - 1)),
            hosts=own.hosts,
        )
        here = session.cwd if session.owner == self._ctx.owner else ""  # that of a guest is the guest's own
        known_as = {"event": event, "system": SYSTEM, "model": config.model, "effort": config.effort, "folder": here}
        return TurnOrder(bounds=bounds, hidden=True, speaker=session.speaker, **known_as)

    def _go_on(self, session: Session, call: str, goals: Sequence[str]) -> None:
        if call not in self._at_work:
            task = self._at_work[call] = asyncio.ensure_future(self._all(session, call, goals))
            task.add_done_callback(lambda _: self._at_work.pop(call, None))

    async def _all(self, session: Session, call: str, goals: Sequence[str]) -> None:
        """See all children of a call through, and tell what became of them."""
        try:
            events = [f"{call}:{number}" for number in range(1, len(goals) + 1)]
            found = await asyncio.gather(*map(self._one, [session] * len(goals), events, goals))
            rows = [{"task": number, **row} for number, row in enumerate(found, 1) if row]
            if rows:
                most = min(_MOST, _ALL // len(rows))
                told = [json.dumps(_short(row, most), ensure_ascii=False) for row in rows]
                text = Text(text="\n".join(["<children>", *told, "</children>", _ASKS]), quotes="child agents")
                message = Message(role="user", parts=(text,), untrusted=True)
                order = TurnOrder(session=session.id, event=f"{call}:told", speaker=session.speaker)
                await self._ctx.turns.queue(message, owner=session.owner, order=order)
            await self._forget(session, call)
        except UnknownName:  # the conversation was deleted
            return
        except HermesError as error:  # it is looked at again when the conversation is taken up
            self._ctx.log.warning("what children came to could not be told: %s", error)

    async def _forget(self, session: Session, call: str) -> None:
        def less(old: JSON | None) -> JSON | None:
            known = dict(old) if isinstance(old, dict) else {}
            return {**known, "calls": {name: one for name, one in known.get("calls", {}).items() if name != call}}

        await self._ctx.documents.change(_NAME, less, owner=session.owner, session_id=session.id)

    async def _one(self, session: Session, event: str, goal: str) -> dict[str, JSON]:
        """Play one child, or wait for whoever does; what it came to, nothing where it never was ordered."""
        past = await self._ctx.turns.past(event, owner=session.owner)
        if past is None:
            return {}
        begin: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        play = asyncio.ensure_future(self._play(session, event, past.session_id, begin))
        worker = self._roster.enter(session, goal, play)
        worker.session_id = past.session_id
        begin.set_result(worker)
        why = ""
        try:
            await asyncio.wait([play], timeout=self._config.seconds)
            if not play.done():
                why = f"Its {self._config.seconds:g} seconds were up."
        finally:
            self._roster.leave(session, worker)
            play.cancel()
            await asyncio.wait([play])
        if worker.stopped:
            why = "The person stopped it."
        if why:
            await self._ctx.turns.drop(past.session_id, owner=session.owner)
        elif not play.cancelled() and (error := play.exception()):
            raise error
        past = await self._ctx.turns.past(event, owner=session.owner) or past
        if past.state == "done":
            return {"status": "done", "answer": past.answer, "session": past.session_id}
        status = "failed" if past.state == "failed" else "timeout" if why.endswith("up.") else "interrupted"
        return {"status": status, "error": why or past.error or "It was stopped.", "session": past.session_id}

    async def _play(self, session: Session, event: str, child: str, begin: "asyncio.Future[Worker]") -> Any:
        worker = await begin
        async with self._roster.place(worker, session, leaf=True):
            while True:
                past = await self._ctx.turns.past(event, owner=session.owner)
                if past is None or past.state not in _OPEN:
                    return
                async with contextlib.aclosing(self._ctx.turns.resume(child, owner=session.owner)) as events:
                    async for one in events:
                        if line := step_of(one):
                            worker.step(child, line)
                past = await self._ctx.turns.past(event, owner=session.owner)
                if past is not None and past.state in _OPEN:  # whoever plays it lives
                    await asyncio.sleep(_LOOK)


def _short(row: Mapping[str, JSON], most: int) -> dict[str, JSON]:
    """What is told of one: the whole answer is in its session."""
    answer = str(row.get("answer", ""))
    cut = f"{answer[: most * 2 // 3]}\n…\n{answer[-most // 4 :]}" if len(answer) > most else answer
    return {**row, **({"answer": cut} if answer else {})}


def why(text: str) -> str:
    """Say in a line for a person what became of the children that a turn tells of."""
    found = Counter[str]()
    for line in text.split("\n"):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            found[str(json.loads(line)["status"])] += 1
    many = found.total()
    ended = "A child agent has" if many == 1 else f"{many} child agents have"
    return f"{ended} ended: {', '.join(f'{count} {how}' if many > 1 else how for how, count in found.items())}."
