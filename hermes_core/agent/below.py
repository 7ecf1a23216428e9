"""A turn that works for a running call: it may no more than the turn of that call, counts as its own, ends with it.

Its session has an id that follows from the call. So a call that is run again, after a death, finds the turn it had.
"""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncGenerator
from functools import partial
from typing import Literal, TypeAlias

from attrs import evolve

from hermes_core.agent.bounds import CHILD, narrowed
from hermes_core.agent.callcontext import CallContext
from hermes_core.agent.incoming import enveloped
from hermes_core.agent.kernel import Kernel
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.errors import UserError
from hermes_core.kinds import ToolContext
from hermes_core.kinds.console import AskPerson
from hermes_core.store.outside import outside
from hermes_core.types import Ended, Event, Failed, Message, Question, Started, Text, TurnBounds, TurnOrder, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import LastTurn

__all__ = ["Below"]

_Reason: TypeAlias = Literal["done", "failed", "interrupted"]


class Below:
    """One turn for one call. ``label`` is the plugin that orders it."""

    def __init__(self, runtime: Kernel, label: str, call: ToolContext, order: TurnOrder, ask: AskPerson | None) -> None:
        """Refuse a tool that may not: raises ToolError; a call that is over, an order not to be kept: UserError."""
        if not isinstance(call, CallContext):
            raise UserError("A turn works for a call that runs in this kernel, or for none.")
        if order.session or order.fork or order.folder or order.deliver or order.ask:
            raise UserError("A turn that works for a call has a session of its own, and asks and answers by that call.")
        self._runtime, self._label, self._call, self._order = runtime, label, call, order
        self._runner = call.below()
        self._ask = ask or self._through
        self._about = ""
        self.id = ""

    async def run(self, message: str | Message) -> AsyncGenerator[Event, None]:
        """Play it, or what is left of it, or tell its end again."""
        runner, runtime, order = self._runner, self._runtime, self._order
        said = message if isinstance(message, Message) else Message(role="user", parts=(Text(text=message),))
        self._about = " ".join(" ".join(p.text for p in said.parts if isinstance(p, Text)).split())[:80]
        row = await runner.store.journal.call_row(runner.turn, self._call.call_id)
        place = json.dumps([self._label, runner.session.id, runner.turn.id, row, order.event])
        self.id = f"{CHILD}_{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:16]}"
        if self.id in self._call.at_work:
            raise UserError("This call has such a turn at work already.", hint="Give each of them an event of its own.")
        self._call.at_work[self.id] = partial(runtime.turns.end, self.id)
        runner.spent.setdefault(self._call.call_id, set()).add(self.id)
        try:
            async for event in self._played(said):
                yield event
        finally:
            await asyncio.shield(self._settle())

    async def _played(self, said: Message) -> AsyncGenerator[Event, None]:
        runner, runtime, order = self._runner, self._runtime, self._order
        last = await runner.store.journal.last_turn(self.id)
        if last is not None and last.state != "open":
            async for event in self._told(last):
                yield event
            return
        async with runner.meter.places:
            self._call.below()  # it may be over by now
            left, session = await runner.meter.left(), runner.session
            tools = runtime.toolbox().offered(session).values()
            bounds = narrowed(order.bounds or TurnBounds(), session.bounds, tools, left)
            runtime.policy.parents[self.id] = session.id
            model = await self._model()
            turn_origin = TurnOrigin(
                ask=self._ask,
                model=model,
                effort=order.effort,
                bounds=bounds,
                above=runner.meter,
                speaker=session.speaker,
            )
            owner, system = session.owner, order.system
            await runtime.sessions.take(
                self.id, CHILD, owner, system, folder=session.cwd, bounds=bounds, parent=session.id
            )
            if last is None:
                said = evolve(said, untrusted=said.untrusted or session.untrusted)
                came = enveloped(said, self.id, self._label, owner, self.id)
                turn = runtime.turns.run(
                    said,
                    session=self.id,
                    origin=CHILD,
                    owner=owner,
                    envelope=came,
                    system=system,
                    turn_origin=turn_origin,
                )
            else:
                turn = runtime.turns.resume(self.id, owner=owner, turn_origin=turn_origin)
            played = False
            async with contextlib.aclosing(turn) as events:
                async for event in events:
                    played = True
                    if isinstance(event, Ended):
                        await self._mark()
                    yield event
            if not played:
                raise UserError("Another process is still at work on it.")

    async def _told(self, last: "LastTurn") -> AsyncGenerator[Event, None]:
        """Yield the end of a turn that is over."""
        self._runner.meter.running[self.id] = lambda: last.usage
        await self._mark()
        yield Started(session_id=self.id, turn_id="", provider=last.provider, model=last.model)
        if last.error:
            yield Failed(kind="user_error", text=last.error)
        reasons: dict[str, _Reason] = {"done": "done", "failed": "failed", "interrupted": "interrupted"}
        reason = reasons[last.state]
        yield Ended(session_id=self.id, turn_id="", answer=last.answer, reason=reason, usage=last.usage)

    async def _model(self) -> str:
        """Say who answers: whom the order names, else who answers in the turn that it works for."""
        wanted, mine = self._order.model, self._runner.model
        if wanted:
            words = wanted if ":" in wanted else f"{mine.partition(':')[0]}:{wanted}"
            await self._runtime.routes.get(words)
            return words
        usual = await self._runtime.routes.get()
        return "" if mine == f"{usual.name}:{usual.model}" else mine

    async def _through(self, question: Question) -> Verdict:
        """Put a question to the person of the turn that this one works for, as one of that turn's own."""
        note = f"a child agent asks, at work on: {self._about}"
        verdict = await self._runner.ask(evolve(question, risk=f"{question.risk} ({note})".strip()))
        return verdict or Verdict(outcome="deny", reason="Nobody is here to ask")

    async def _mark(self) -> None:
        """Mark what the turn saw from outside as from outside for the call, too."""
        if outside(await self._runner.store.history.load(self.id)):
            self._call.from_outside()

    async def _settle(self) -> None:
        """Let go of what its session holds here: a place for commands, and what runs there."""
        self._call.at_work.pop(self.id, None)
        await self._runtime.turns.end(self.id)
        self._runtime.policy.parents.pop(self.id, None)
        try:
            await self._mark()
        except Exception:  # noqa: BLE001 - what cannot be looked at is not trusted
            self._call.from_outside()
