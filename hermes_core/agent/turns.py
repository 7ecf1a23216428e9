"""Turns that a plugin orders: written down first, then played here or by whoever resumes their session."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Literal

from attrs import evolve

from hermes_core.agent.incoming import enveloped
from hermes_core.agent.kernel import Kernel
from hermes_core.agent.policy.rules import idle
from hermes_core.agent.session_state import new_session_id
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.brokers import TurnEnds, TurnsBroker
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import Duplicate, UserError
from hermes_core.kinds import ToolContext
from hermes_core.kinds.console import AskPerson
from hermes_core.plugins.index import Installed
from hermes_core.plugins.loader import slash_clashes
from hermes_core.types import (
    Envelope,
    Event,
    Message,
    PastTurn,
    Principal,
    Session,
    Speaker,
    TurnBounds,
    TurnOrder,
)
from hermes_shapes.sound import unsound

__all__ = ["Turns"]


class Turns(TurnsBroker):
    """The turns of one plugin in one kernel."""

    def __init__(self, runtime: Kernel, installed: Installed) -> None:
        self._runtime, self._installed = runtime, installed

    async def take_up(
        self, session: str = "", *, owner: Principal | None = None, origin: str = "", system: str = "", folder: str = ""
    ) -> Session:
        origin, owner = origin or self._name, owner or self._runtime.owner
        return (await self._runtime.sessions.take(session, origin, owner, system, folder=folder)).session

    async def run(
        self,
        message: str | Message | Envelope,
        *,
        owner: Principal | None = None,
        order: TurnOrder | None = None,
        ask: AskPerson | None = None,
        call: ToolContext | None = None,
        stored: Callable[[str], Awaitable[None]] | None = None,
        ends: TurnEnds | None = None,
    ) -> AsyncGenerator[Event, None]:
        if call is not None:
            said = message.message if isinstance(message, Envelope) else message
            from hermes_core.agent.below import Below

            _refuse_unsound(order or TurnOrder())
            turn = Below(self._runtime, self._installed.label, call, order or TurnOrder(), ask).run(said)
        else:
            owner = owner or self._runtime.owner
            if isinstance(message, Envelope):
                turn = self._hosted(message, owner, order or TurnOrder(), ask, stored, ends)
            else:
                written = await self._write(message, owner, order or TurnOrder())
                if written is None:
                    return
                if stored:
                    await stored(written[0])
                turn_origin = TurnOrigin(ask=ask, ends=ends)
                turn = self._runtime.turns.follow(written[0], owner=owner, turn_origin=turn_origin, row=written[1])
        async with contextlib.aclosing(turn) as events:
            with contextlib.suppress(Duplicate):  # it was heard before
                async for one in events:
                    yield one

    def _hosted(
        self,
        envelope: Envelope,
        owner: Principal,
        order: TurnOrder,
        ask: AskPerson | None,
        stored: Callable[[str], Awaitable[None]] | None,
        ends: TurnEnds | None,
    ) -> AsyncGenerator[Event, None]:
        """Play the turn of a message that a host heard; one commit writes it down and begins its turn."""
        self._require_host()
        _refuse_unsound(order)
        named = order.session or not stored
        if not named or evolve(order, session="", model="", effort="") != TurnOrder():
            raise UserError("What a host heard is answered in a session that it took up, by a model and effort.")
        return self._runtime.turns.run(
            envelope.message,
            session=order.session,
            origin=envelope.platform,
            owner=owner,
            envelope=envelope,
            turn_origin=TurnOrigin(ask=ask, ends=ends, model=order.model, effort=order.effort),
            stored=partial(stored, order.session) if stored else None,
        )

    async def queue(
        self, message: str | Message | Envelope, *, owner: Principal | None = None, order: TurnOrder | None = None
    ) -> str:
        written = await self._write(message, owner or self._runtime.owner, order or TurnOrder())
        return written[0] if written else ""

    async def steer(self, session: str, message: str | Message | Envelope, *, owner: Principal | None = None) -> None:
        owner = await self._checked(session, owner)
        envelope, origin = self._enveloped(message, owner)
        await self._runtime.turns.queue(
            session, envelope.message, owner=owner, origin=origin, envelope=envelope, mode="steer"
        )

    async def interrupt(self, session: str, *, owner: Principal | None = None, elsewhere: bool = False) -> bool:
        owner = await self._checked(session, owner)
        if (stopped := self._runtime.turns.interrupt(session)) or not elsewhere:
            return stopped
        store = await self._runtime.store()
        if not await store.journal.is_held(session):
            return False
        envelope, _ = self._enveloped("/stop", owner)
        await store.inbox.wait(session, envelope.message, mode="stop", envelope=envelope)
        return True

    async def busy(self, session: str, *, owner: Principal | None = None, elsewhere: bool = True) -> bool:
        await self._checked(session, owner)
        here = self._runtime.turns.busy(session)
        return here or (elsewhere and await (await self._runtime.store()).journal.is_held(session))

    async def resume(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: AskPerson | None = None,
        ends: TurnEnds | None = None,
        only: Literal["", "cut", "waiting"] = "",
        model: str = "",
        effort: str = "",
        speaker: Speaker | None = None,
    ) -> AsyncGenerator[Event, None]:
        owner = await self._checked(session, owner)
        if await (await self._runtime.store()).sessions.is_free(session):
            return  # it was taken up, and nothing was said in it
        turns = self._runtime.turns
        origin = TurnOrigin(ask=ask, ends=ends, model=model, effort=effort, speaker=speaker)
        for what, play in {"cut": turns.resume, "waiting": turns.follow}.items():
            if only not in ("", what):
                continue
            played = False
            async with contextlib.aclosing(play(session, owner=owner, turn_origin=origin)) as events:
                async for one in events:
                    played = True
                    yield one
            if played:
                return

    async def interrupted(self, *, owner: Principal | None = None) -> Sequence[str]:
        return await (await self._runtime.store()).journal.interrupted(owner or self._runtime.owner)

    async def drop(self, session: str, *, owner: Principal | None = None) -> tuple[str, int]:
        await self._checked(session, owner)
        store = await self._runtime.store()
        waited = await store.inbox.drop(session)
        taken = await store.journal.resume_turn(session, holder=self._runtime.sessions.holder)
        if taken is None:
            return "", waited
        await store.journal.close_turn(taken.turn, state="interrupted")
        return taken.turn.id, waited

    async def past(self, event: str, *, owner: Principal | None = None) -> PastTurn | None:
        owner = owner or self._runtime.owner
        return await (await self._runtime.store()).traces.past_turn(owner, **self._event(event, owner))

    async def forget(self, event: str, *, owner: Principal | None = None) -> bool:
        owner = owner or self._runtime.owner
        return await (await self._runtime.store()).traces.forget_event(owner, **self._event(event, owner))

    def notices(self) -> Sequence[str]:
        """See TurnsBroker."""
        runtime, route = self._runtime, self._runtime.routes.current
        rules, program = runtime.settings.config.policy, runtime.home.brand
        found = [*slash_clashes(runtime.index, runtime.consent), *runtime.dispatch.faults]
        # What fell over an answer was told with it.
        failed = {fault.plugin: fault for fault in found if fault.where != "transform_outgoing"}
        return [
            *([route.notice] if route and route.notice else []),
            *runtime.models.notices,
            *idle([*rules.deny, *rules.allow], runtime.index.tools),
            *(f"Plugin {f.plugin} failed ({f.phase}): {f.error}. See `{program} doctor`." for f in failed.values()),
        ]

    # --- how it is written down -----------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self._installed.label.partition("/")[2]

    def _event(self, event: str, owner: Principal) -> dict[str, str]:
        return {"platform": self._installed.label, "account": _account(owner), "event_id": event}

    async def _checked(self, session: str, owner: Principal | None) -> Principal:
        """Return whose session it is, which is theirs. Raises UnknownName."""
        owner = owner or self._runtime.owner
        if not self._runtime.sessions.holds(session, owner):
            await (await self._runtime.store()).sessions.get(session, owner)
        return owner

    def _require_host(self) -> None:
        self._installed.require("permissions", "kernel", "host.serve", "served people")

    def _enveloped(self, message: str | Message | Envelope, owner: Principal, event: str = "") -> tuple[Envelope, str]:
        """Return a message as it came in, and the origin of a session that begins with it."""
        if isinstance(message, Envelope):
            self._require_host()
            return message, message.platform
        return enveloped(message, "", self._installed.label, owner, event, _account(owner)), self._name

    async def _write(
        self, message: str | Message | Envelope, owner: Principal, order: TurnOrder
    ) -> tuple[str, int] | None:
        """Store the message with its order; its session and row. None when it came before. Raises HermesError."""
        runtime, store = self._runtime, await self._runtime.store()
        _refuse_unsound(order)
        if order.session and order.fork:
            raise UserError("A turn is in a session, or in a fork of one: give one of both.")
        held = runtime.sessions.holds(order.session, owner)
        if order.session and not held and not await store.sessions.is_free(order.session):
            await store.sessions.get(order.session, owner)
        if order.folder and (order.session or order.fork):
            raise UserError("Only a new session is given a folder; others have theirs.")
        if order.folder and runtime.guests.is_guest(owner):
            raise UserError("A guest's session works in the guest's own folder.")
        if order.bounds and order.bounds.grants and runtime.guests.is_guest(owner):
            raise UserError("A guest's turn is granted nothing that others are asked for.")
        if order.model:
            await runtime.routes.get(order.model)  # one that is not there is told to whoever orders, not at night
        for target in filter(None, (order.deliver, order.ask)):
            await self._reachable(owner, target)
        if order.event and await self.past(order.event, owner=owner):
            return None
        session, parent = order.session or new_session_id(), self._installed.label if order.hidden else ""
        if order.fork:
            session = (await runtime.sessions.fork(order.fork, owner, self._name, parent=parent)).id
        envelope, origin = self._enveloped(message, owner, order.event)
        envelope, order = evolve(envelope, speaker=order.speaker or envelope.speaker), evolve(order, speaker=None)
        envelope = evolve(envelope, order=None if order in (TurnOrder(), TurnOrder(session=session)) else order)
        try:
            row = await runtime.turns.queue(
                session,
                envelope.message,
                owner=owner,
                origin=origin,
                envelope=envelope,
                system=order.system,
                folder=order.folder,
                parent=parent,
            )
        except Duplicate:  # another process was a moment earlier
            if order.fork:
                await runtime.sessions.delete(session, owner)
            return None
        return session, row

    async def _reachable(self, owner: Principal, target: str) -> None:
        if not await self._runtime.mailbox().find(owner, target):
            raise UserError(f"{target} is no chat that an answer or a question could be sent to.")


def _account(owner: Principal) -> str:
    """Say whose events they are: each person's are apart."""
    return f"{owner.profile}/{owner.person}"


def _refuse_unsound(order: TurnOrder) -> None:
    """Refuse an order that nobody could keep to: raises UserError."""
    bounds = order.bounds or TurnBounds()
    amounts = {name: getattr(bounds, name) for name in ("calls", "tokens", "money", "seconds")}
    wrong = unsound(order) or next((f"TurnBounds.{n} is {v!r}" for n, v in amounts.items() if not 0 <= v < inf), "")
    if not wrong and order.effort and order.effort not in EFFORTS:
        wrong = f"TurnOrder.effort is {order.effort!r}"
    if not wrong and order.folder and ("\0" in order.folder or not Path(order.folder).is_absolute()):
        wrong = f"TurnOrder.folder is {order.folder!r}"
    if wrong:
        raise UserError(f"That order cannot be kept: {wrong}.")
