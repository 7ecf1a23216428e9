"""One run of a flow: where its steps are kept, what came of them, and what may still be spent."""

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any

import attrs

from hermes_agent.past import answer_in, finished, text_in
from hermes_agent.typed import Shape
from hermes_core.embed import Hermes, HowTurn
from hermes_core.errors import BudgetReached, HermesError, UserError
from hermes_core.types import Message, Principal, Text, TurnBounds

__all__ = ["Done", "Got", "Place", "Run", "named"]

_NAME = re.compile(r"[\w-]{1,40}")
_WHOLE = ("calls", "tokens")
_AMOUNTS = {"calls": "model calls", "tokens": "tokens", "money": "money", "seconds": "time"}
_LONGEST = 100  # characters of a session's id


def named(name: str, *, needed: bool = False) -> str:
    """Give a name back that may be part of a session's id. Raises UserError for another."""
    if _NAME.fullmatch(name) or (not name and not needed):
        return name
    raise UserError(f"{name!r} is no name here.", hint="Take letters, digits, _ and -, 40 at most.")


@attrs.frozen
class Done:
    """A step that is done: its ``path`` in the flow, its session, its value. ``again``: it was done before."""

    path: str
    session: str
    value: Any
    again: bool


@attrs.frozen
class Got:
    """What a step gave; ``untrusted``: it was made of what came from outside."""

    value: Any
    untrusted: bool


@attrs.define
class Run:
    """One run: whose it is, the sessions whose turn a death cut, and what of the amounts is spent or given out."""

    hermes: Hermes
    name: str
    owner: Principal
    bounds: TurnBounds | None
    told: Callable[[Done], object]
    cut: set[str]
    spent: dict[str, dict[str, float]] = attrs.field(factory=dict)
    granted: dict[str, dict[str, float]] = attrs.field(factory=dict)

    @classmethod
    async def begun(
        cls, hermes: Hermes, name: str, owner: Principal, bounds: TurnBounds | None, told: Callable[[Done], object]
    ) -> "Place":
        """Begin a run, and count what the flow of that name spent before."""
        run = cls(hermes, name, owner, bounds, told, set(await hermes.interrupted(owner=owner)))
        if run.counts:
            for row in await hermes.sessions.rows(owner, origin=name, limit=2**31 - 1):
                if row.session.id.startswith(f"{run.prefix}:"):
                    await run.book(row.session.id)
        return Place(run)

    @property
    def prefix(self) -> str:
        """What the ids of its sessions begin with: people may have flows of one name."""
        if self.owner == self.hermes.owner:
            return self.name
        whose = f"{self.owner.profile}/{self.owner.person}".encode("utf-8", "replace")
        return f"{self.name}@{sha256(whose).hexdigest()[:12]}"

    @property
    def counts(self) -> bool:
        """Whether an amount is bounded for the whole flow."""
        return any(getattr(self.bounds or TurnBounds(), name) for name in _AMOUNTS)

    async def book(self, session: str) -> None:
        """Count what the turns of a session used; what it was granted is free again."""
        if self.counts:
            found = await self.hermes.sessions.spent(self.owner, session_id=session)
            used = found.usage
            amounts = {"calls": used.calls, "tokens": used.input + used.output, "money": used.cost}
            self.spent[session] = {**amounts, "seconds": found.seconds}
        self.granted.pop(session, None)

    def grant(self, session: str, own: TurnBounds | None, share: int) -> TurnBounds | None:
        """Say what the turn of a session may use, where so many share what is left. Raises BudgetReached."""
        if not self.counts:
            return own or self.bounds
        most = self.bounds or TurnBounds()
        there = self.spent.get(session, {}) if session in self.cut else {}  # its turn goes on and counts that, too
        given: dict[str, float] = {}
        for name, words in _AMOUNTS.items():
            if not (bound := getattr(most, name)):
                continue
            gone = sum(one.get(name, 0) for one in (*self.spent.values(), *self.granted.values()))
            left = (bound - gone) / share
            left = math.floor(left) if name in _WHOLE else left
            if left <= 0:
                raise BudgetReached(
                    f"The flow {self.name} has nothing left of its {words}.",
                    hint="What was done stays done: run it again with higher bounds.",
                )
            given[name] = left
        self.granted[session] = given
        whole = {name: left + there.get(name, 0) for name, left in given.items()}
        base = own or most
        lower: dict[str, Any] = {name: min(left, getattr(base, name) or math.inf) for name, left in whole.items()}
        return attrs.evolve(base, **lower)


@attrs.frozen
class Place:
    """A place in a flow. ``path`` is where; ``share`` by how many what is left is shared there."""

    run: Run
    path: str = ""
    share: int = 1

    def under(self, part: str, among: int = 1) -> "Place":
        """Give a place below."""
        return Place(self.run, f"{self.path}.{part}" if self.path else part, self.share * among)

    def decision(self) -> "Place":
        """Give the place of what is decided here."""
        return Place(self.run, f"{self.path}?", self.share)

    @property
    def session(self) -> str:
        """The session of this place."""
        name = f"{self.run.prefix}:{self.path or '1'}"
        return name if len(name) <= _LONGEST else f"{self.run.prefix}:{sha256(self.path.encode()).hexdigest()[:40]}"

    async def begin(self, given: Any) -> None:
        """Store what the flow begins with. Raises UserError where it began with something else."""
        shape: Shape[Any] = Shape(Any)
        text = _written(shape, given, "What the flow is given")
        session = f"{self.run.prefix}:="  # no step has such a name
        there = await answer_in(self.run.hermes, session, self.run.owner)
        there = there or await self._store(session, text, untrusted=False)
        if text_in(there) != text:
            raise UserError(
                f"The flow {self.run.name} was begun with something else.",
                hint="Give it what it had, to go on; take another name to begin anew.",
            )

    async def keep(self, work: Callable[[], Awaitable[Any]], shape: Shape[Any], *, untrusted: bool = False) -> Got:
        """Give what is stored here, else what work gives, once that is stored. Raises what it raises, and UserError."""
        there = await answer_in(self.run.hermes, self.session, self.run.owner)
        again = there is not None
        if there is None:
            text = _written(shape, await work(), f"What step {self.path or '1'} gave")
            there = await self._store(self.session, text, untrusted=untrusted)
        if wrong := shape.misfit(text_in(there)):
            raise UserError(
                f"What is stored for step {self.path or '1'} of {self.run.name} is of another type: {wrong}",
                hint="The flow was changed since: take another name to begin anew.",
            )
        return self._done(shape.value, there, again=again)

    async def ask(
        self,
        message: Callable[[], str | Message],
        untrusted: bool,
        shape: Shape[Any] | None,
        own: TurnBounds | None,
        how: Mapping[str, Any],
    ) -> Got:
        """Give the answer that is stored here, else ask, or finish the turn that a death cut. Raises HermesError."""
        run, session = self.run, self.session
        if session not in run.cut:
            there = await answer_in(run.hermes, session, run.owner)
            if there and not (shape and shape.misfit(text_in(there))):
                return self._done(shape.value if shape else text_in(there), there, again=True)
        bounds = run.grant(session, own, self.share)
        try:
            if session in run.cut:
                played = {one: value for one, value in how.items() if one != "system"}  # its prompt has that
                await finished(run.hermes, session, run.owner, bounds=bounds, returns=shape, **played)
                run.cut.discard(session)
            else:
                turn: HowTurn = {"session": session, "origin": run.name, "owner": run.owner, "bounds": bounds}
                asked = _said(message(), untrusted=untrusted)
                await run.hermes.run(asked, returns=shape, **{**how, **turn})
        finally:
            await run.book(session)
        there = await answer_in(run.hermes, session, run.owner)
        if there is None or (shape and shape.misfit(text_in(there))):
            raise HermesError(f"Step {self.path or '1'} of {run.name} ended without an answer.", hint="Run it again.")
        return self._done(shape.value if shape else text_in(there), there, again=False)

    def _done(self, value: Any, there: Message, *, again: bool) -> Got:
        self.run.told(Done(self.path or "1", self.session, value, again))
        return Got(value, there.untrusted)

    async def _store(self, session: str, text: str, *, untrusted: bool) -> Message:
        """Write down what was given; what another process wrote first stands. Raises UserError."""
        run = self.run
        told = Message(
            role="user", parts=(Text(text=f"(Step {self.path or 'one'} of the flow {run.name} gave this.)"),)
        )
        made = Message(role="assistant", parts=(Text(text=text),), untrusted=untrusted)
        try:
            await run.hermes.sessions.create(run.owner, session, history=(told, made))
        except UserError:
            if first := await answer_in(run.hermes, session, run.owner):
                return first
            raise
        return made


def _said(message: str | Message, *, untrusted: bool) -> Message:
    made = message if isinstance(message, Message) else Message(role="user", parts=(Text(text=message),))
    return attrs.evolve(made, untrusted=made.untrusted or untrusted)


def _written(shape: Shape[Any], value: Any, what: str) -> str:
    try:
        text = shape.write(value)
        json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{what} has no form in JSON: {error}.") from error
    if wrong := shape.misfit(text):
        raise UserError(f"{what} is not of the type that it is said to be: {wrong}")
    return text
