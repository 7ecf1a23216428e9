"""Turns without a kernel behind them, for plugins under test."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, cast

from attrs import evolve

from hermes_core.brokers import TurnEnds, TurnsBroker
from hermes_core.errors import NotPermitted, UnknownName
from hermes_core.kinds import ToolContext
from hermes_core.kinds.console import AskPerson
from hermes_core.types import (
    Ended,
    Envelope,
    Event,
    Message,
    PastTurn,
    Principal,
    Said,
    Session,
    Speaker,
    Started,
    Text,
    TurnOrder,
    TurnResult,
    Usage,
)
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.database import Transaction
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeTurns", "Ordered"]


@frozen(kw_only=True)
class Ordered:
    """A turn that was ordered. ``session`` is the one it is in, also where its order names none."""

    text: str
    owner: Principal
    session: str
    order: TurnOrder
    call: ToolContext | None = None


class FakeTurns(TurnsBroker):
    """Keeps what is ordered in ``ordered`` and answers each turn with what was said; ``waiting`` are the queued ones.
    What ``answers`` holds is said first, a text or a list of events for each turn.

    A session exists once something was ordered in it, for whoever it was ordered for.
    """

    def __init__(self, manifest: "Manifest") -> None:
        self._manifest = manifest
        self.ordered: list[Ordered] = []
        self.answers: list[str | Sequence[Event]] = []
        self.waiting: dict[str, list[Ordered]] = {}
        self.steered: list[tuple[str, str]] = []
        self._past: dict[tuple[Principal, str], PastTurn] = {}
        self._owners: dict[str, Principal] = {}

    async def take_up(
        self, session: str = "", *, owner: Principal | None = None, origin: str = "", system: str = "", folder: str = ""
    ) -> Session:
        """One that exists from now on."""
        self._require()
        owner, name = owner or Principal(), session or f"{self._manifest.name}-session-{len(self._owners) + 1}"
        if self._owners.setdefault(name, owner) != owner:
            raise UnknownName("session", name)
        return Session(id=name, origin=origin or self._manifest.name, owner=owner, cwd=folder)

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
        """Answer with what was said; also again, for a call that has had that event."""
        if ordered := self._order(message, owner, order, call):
            if stored:
                await stored(ordered.session)
            async for one in self._play(ordered, ends):
                yield one

    async def queue(
        self, message: str | Message | Envelope, *, owner: Principal | None = None, order: TurnOrder | None = None
    ) -> str:
        """Keep it in ``waiting``."""
        if not (ordered := self._order(message, owner, order)):
            return ""
        self.waiting.setdefault(ordered.session, []).append(ordered)
        return ordered.session

    async def steer(self, session: str, message: str | Message | Envelope, *, owner: Principal | None = None) -> None:
        """Keep it in ``steered``."""
        self._check(session, owner)
        self.steered.append((session, _text(message)))

    async def interrupt(self, session: str, *, owner: Principal | None = None, elsewhere: bool = False) -> bool:
        """Nothing runs."""
        self._check(session, owner)
        return False

    async def busy(self, session: str, *, owner: Principal | None = None, elsewhere: bool = True) -> bool:
        """Nothing runs."""
        self._check(session, owner)
        return False

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
        """Answer what waits longest in a session. Nothing is ever cut off here."""
        self._check(session, owner)
        if only != "cut" and (waiting := self.waiting.get(session)):
            async for one in self._play(waiting.pop(0), ends):
                yield one

    async def interrupted(self, *, owner: Principal | None = None) -> Sequence[str]:
        """Where something waits."""
        self._require()
        found = self._owners.items()
        return [name for name, whose in found if whose == (owner or Principal()) and self.waiting.get(name)]

    async def drop(self, session: str, *, owner: Principal | None = None) -> tuple[str, int]:
        """Forget what waits."""
        self._check(session, owner)
        return "", len(self.waiting.pop(session, ()))

    async def past(self, event: str, *, owner: Principal | None = None) -> PastTurn | None:
        """What became of an event."""
        self._require()
        return self._past.get((owner or Principal(), event))

    async def forget(self, event: str, *, owner: Principal | None = None) -> bool:
        """Forget an event, and what waits under it."""
        self._require()
        for waiting in self.waiting.values():
            waiting[:] = [one for one in waiting if (one.owner, one.order.event) != (owner or Principal(), event)]
        return self._past.pop((owner or Principal(), event), None) is not None

    def _require(self, permission: str = "turns.run") -> None:
        if permission not in self._manifest.kernel:
            hint = f"Declare it in hermes-plugin.toml: [permissions] kernel = ['{permission}']"
            raise NotPermitted(self._manifest.label, f"used {permission} without declaring it.", hint=hint)

    def _check(self, session: str, owner: Principal | None) -> None:
        self._require()
        if self._owners.get(session) != (owner or Principal()):
            raise UnknownName("session", session)

    def _order(
        self,
        message: str | Message | Envelope,
        owner: Principal | None,
        order: TurnOrder | None,
        call: ToolContext | None = None,
    ) -> Ordered | None:
        self._require()
        if order and order.bounds and order.bounds.grants:
            self._require("approvals.settle")
        owner, order = call.session.owner if call else owner or Principal(), order or TurnOrder()
        if call is None and order.event and (owner, order.event) in self._past:
            return None
        session = order.session or f"{self._manifest.name}-{len(self.ordered) + 1}"
        if self._owners.setdefault(session, owner) != owner:
            raise UnknownName("session", session)
        ordered = Ordered(text=_text(message), owner=owner, session=session, order=order, call=call)
        self.ordered.append(ordered)
        said = Message(role="user", parts=(Text(text=ordered.text),))
        self._past[owner, order.event] = PastTurn(session_id=session, turn_id="", state="waiting", message=said)
        return ordered

    async def _play(self, ordered: Ordered, ends: TurnEnds | None) -> AsyncGenerator[Event, None]:
        turn = f"turn-{self.ordered.index(ordered) + 1}"
        answer = self.answers.pop(0) if self.answers else ordered.text
        yield Started(session_id=ordered.session, turn_id=turn, provider="scripted", model="scripted-1")
        if not isinstance(answer, str):
            for event in answer:
                yield event
            return
        yield Said(text=answer)
        result = TurnResult(session_id=ordered.session, turn_id=turn, state="done", answer=answer)
        if ends and (prepared := await ends(result)):
            prepared(cast("Transaction", None))  # it is one of the fake store, which has a file of its own
        place = ordered.owner, ordered.order.event
        self._past[place] = evolve(self._past[place], turn_id=turn, state="done", answer=answer)
        yield Ended(session_id=ordered.session, turn_id=turn, answer=answer, reason="done", usage=Usage())


def _text(message: str | Message | Envelope) -> str:
    if isinstance(message, str):
        return message
    if isinstance(message, Envelope):
        message = message.message
    return "".join(part.text for part in message.parts if isinstance(part, Text))
