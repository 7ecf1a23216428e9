"""Work in several steps, each done once: what is stopped in the middle goes on where it was.

trip = sequence(
    ask(lambda country: f"Name three towns in {country}.", returns=list[str]),
    each(sequence(do(weather), ask(lambda sky: f"What can one do there? The weather: {sky}"))),
)
plans = await run(hermes, trip, "Norway", name="trip-1")

A step takes what the one before it gave. What it came to is stored before the next one begins, in a session that is
found by the name of the flow and the place of the step. So the same call with the same ``name``, in another process
too, asks nothing again that was answered, finishes the turn that a death cut, and does what is left.
"""

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar, cast, get_type_hints, overload

import attrs

from hermes_agent.flow_run import Done, Got, Place, Run, named
from hermes_agent.typed import Shape
from hermes_core.embed import Hermes
from hermes_core.errors import UserError
from hermes_core.types import Message, Principal, TurnBounds

__all__ = ["Done", "Step", "ask", "branch", "do", "each", "loop", "parallel", "run", "sequence"]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
T = TypeVar("T")
In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


class Step(ABC, Generic[In_contra, Out_co]):
    """One step of a flow, made by ``ask`` or ``do``, or several, put together by the other functions."""

    name: str = ""

    @abstractmethod
    async def play(self, place: Place, given: Got) -> Got:
        """Do what is left of it at its place in a flow. Raises HermesError, and what functions raise."""


@attrs.frozen(kw_only=True)
class _Ask(Step[Any, Any]):
    prompt: "str | Message | Callable[[Any], str | Message]"
    shape: Callable[[], Shape[Any] | None]
    how: Mapping[str, Any]
    bounds: TurnBounds | None
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        def message() -> str | Message:
            return self.prompt(given.value) if callable(self.prompt) else self.prompt

        return await place.ask(message, given.untrusted, self.shape(), self.bounds, self.how)


@attrs.frozen(kw_only=True)
class _Do(Step[Any, Any]):
    function: Callable[[Any], Any]
    shape: Shape[Any]
    untrusted: bool
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        async def work() -> Any:
            if inspect.iscoroutinefunction(self.function):
                return await self.function(given.value)
            found = await asyncio.to_thread(self.function, given.value)
            return await found if inspect.isawaitable(found) else found

        return await place.keep(work, self.shape, untrusted=self.untrusted or given.untrusted)


@attrs.frozen(kw_only=True)
class _Sequence(Step[Any, Any]):
    steps: Mapping[str, Step[Any, Any]]
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        for part, step in self.steps.items():
            given = await step.play(place.under(part), given)
        return given


@attrs.frozen(kw_only=True)
class _Parallel(Step[Any, Any]):
    steps: Mapping[str, Step[Any, Any]]
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        many = len(self.steps)
        found = await _all([step.play(place.under(part, many), given) for part, step in self.steps.items()])
        return Got(tuple(one.value for one in found), any(one.untrusted for one in found))


@attrs.frozen(kw_only=True)
class _Each(Step[Any, Any]):
    step: Step[Any, Any]
    at_once: int
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        room, items = asyncio.Semaphore(self.at_once), list(given.value)
        many = max(1, min(self.at_once, len(items)))

        async def one(number: int, item: Any) -> Got:
            async with room:
                return await self.step.play(place.under(str(number), many), Got(item, given.untrusted))

        found = await _all([one(number, item) for number, item in enumerate(items, 1)])
        return Got([one.value for one in found], given.untrusted or any(one.untrusted for one in found))


@attrs.frozen(kw_only=True)
class _Branch(Step[Any, Any]):
    choose: Callable[[Any], str]
    cases: Mapping[str, Step[Any, Any]]
    name: str

    async def play(self, place: Place, given: Got) -> Got:
        case = (await place.decision().keep(partial(_now, self.choose, given.value), Shape(str))).value
        if case not in self.cases:
            known = ", ".join(self.cases)
            raise UserError(f"Step {place.path or 'branch'} has no case {case!r}.", hint=f"It has {known}.")
        return await self.cases[case].play(place.under(case), given)


@attrs.frozen(kw_only=True)
class _Loop(Step[Any, Any]):
    step: Step[Any, Any]
    until: Callable[[Any], bool]
    most: int
    name: str

    def _ends(self, value: Any) -> bool:
        return bool(self.until(value))

    async def play(self, place: Place, given: Got) -> Got:
        for number in range(1, self.most + 1):
            here = place.under(str(number))
            given = await self.step.play(here, given)
            ends = await here.decision().keep(partial(_now, self._ends, given.value), Shape(bool))
            if ends.value:
                break
        return given


@overload
def ask(prompt: "str | Message | Callable[[Any], str | Message]", *, name: str = "", model: str = "", effort: str = "",
        system: str = "", bounds: TurnBounds | None = None) -> Step[Any, str]: ...  # fmt: skip
@overload
def ask(prompt: "str | Message | Callable[[Any], str | Message]", *, returns: type[T], tries: int = 3, name: str = "",
        model: str = "", effort: str = "", system: str = "", bounds: TurnBounds | None = None,
        ) -> Step[Any, T]: ...  # fmt: skip
@overload
def ask(prompt: "str | Message | Callable[[Any], str | Message]", *, returns: Any, tries: int = 3, name: str = "",
        model: str = "", effort: str = "", system: str = "", bounds: TurnBounds | None = None,
        ) -> Step[Any, Any]: ...  # fmt: skip
def ask(
    prompt: "str | Message | Callable[[Any], str | Message]", *, returns: Any = None, tries: int = 3, name: str = "",
    model: str = "", effort: str = "", system: str = "", bounds: TurnBounds | None = None,
) -> Step[Any, Any]:  # fmt: skip
    """Make a step that asks a model.

    Args:
        prompt: What is asked, or a function that makes it of what the step before gave. It is called once more where a
            death came before the question was stored.
        returns: What the answer is, as of ``typed.run``; without it, text.
        tries: How many answers the model may give until one is of that type.
        name: What its place is called instead of a number: it keeps its place when others are put before it.
        model: Who answers, ``[provider:]model``; as always where none is named.
        effort: How hard it thinks.
        system: What is added to the prompt of its session.
        bounds: What its turn may do at most, in the place of the flow's. What may be spent counts for both.

    Raises:
        UserError: the type has no schema, or the name cannot be one.
    """
    how = {"model": model, "effort": effort, "system": system}
    if returns is None:
        return _Ask(prompt=prompt, shape=lambda: None, how=how, bounds=bounds, name=named(name))
    Shape(returns, tries)  # a type that will not do is told now
    return _Ask(prompt=prompt, shape=lambda: Shape(returns, tries), how=how, bounds=bounds, name=named(name))


@overload
def do(function: Callable[[A], Awaitable[B]], *, untrusted: bool = False, name: str = "") -> Step[A, B]: ...
@overload
def do(function: Callable[[A], B], *, untrusted: bool = False, name: str = "") -> Step[A, B]: ...
def do(function: Callable[[Any], Any], *, untrusted: bool = False, name: str = "") -> Step[Any, Any]:
    """Make a step of a plain function, ``def`` or ``async def``, of what the step before gave.

    What it gives is stored as JSON, and read as the type that its annotation names. A death before that has it called
    again: let it be one that may be.

    Args:
        function: What is called, in a thread where it is no ``async def``.
        untrusted: What it gives comes from outside: prompts that are made of it count as such.
        name: As of ``ask``.

    Raises:
        UserError: what it gives cannot be stored, or the name cannot be one.
    """
    known = getattr(function, "__name__", "function")
    try:
        kind = get_type_hints(function).get("return", Any)
    except (NameError, TypeError) as error:
        raise UserError(f"do({known}): its annotations cannot be read: {error}.") from error
    try:
        shape: Shape[Any] = Shape(kind)
    except UserError as error:
        raise UserError(f"do({known}) cannot be stored: {error.text.removeprefix('returns: ')}") from error
    return _Do(function=function, shape=shape, untrusted=untrusted, name=named(name))


@overload
def sequence(one: Step[A, B], /, *, name: str = ...) -> Step[A, B]: ...
@overload
def sequence(one: Step[A, B], two: Step[B, C], /, *, name: str = ...) -> Step[A, C]: ...
@overload
def sequence(one: Step[A, B], two: Step[B, C], three: Step[C, D], /, *, name: str = ...) -> Step[A, D]: ...
@overload
def sequence(
    one: Step[A, B], two: Step[B, C], three: Step[C, D], four: Step[D, E], /, *, name: str = ...
) -> Step[A, E]: ...
@overload
def sequence(
    one: Step[A, B], two: Step[B, C], three: Step[C, D], four: Step[D, E], five: Step[E, Any], /,
    *more: Step[Any, Any], name: str = ...,
) -> Step[A, Any]: ...  # fmt: skip
def sequence(*steps: Step[Any, Any], name: str = "") -> Step[Any, Any]:
    """Make one step of several, one after the other; each takes what the one before it gave.

    Raises UserError for two of one name.
    """
    return _Sequence(steps=_placed(steps), name=named(name))


@overload
def parallel(one: Step[A, B], two: Step[A, C], /, *, name: str = ...) -> Step[A, tuple[B, C]]: ...
@overload
def parallel(one: Step[A, B], two: Step[A, C], three: Step[A, D], /, *, name: str = ...) -> Step[A, tuple[B, C, D]]: ...
@overload
def parallel(
    one: Step[A, B], two: Step[A, B], three: Step[A, B], four: Step[A, B], /, *more: Step[A, B], name: str = ...
) -> Step[A, tuple[B, ...]]: ...
def parallel(*steps: Step[Any, Any], name: str = "") -> Step[Any, Any]:
    """Make one step of several, side by side; each takes the same. It gives what they gave, in their order.

    What fails in one does not end the others: they come to their end first. Raises UserError for two of one name.
    """
    return _Parallel(steps=_placed(steps), name=named(name))


def each(step: Step[A, B], *, at_once: int = 8, name: str = "") -> Step[Sequence[A], list[B]]:
    """Make a step that is done for each of several values, so many ``at_once``, and gives a list of what came.

    Raises UserError where none would be done at once.
    """
    if at_once < 1:
        raise UserError(f"{at_once} at once do nothing.", hint="at_once is at least 1.")
    return _Each(step=step, at_once=at_once, name=named(name))


def branch(choose: Callable[[A], str], cases: Mapping[str, Step[A, B]], *, name: str = "") -> Step[A, B]:
    """Make a step that is one of several: that of the case which ``choose`` names. What it chose is stored.

    Raises UserError for a case whose name cannot be one.
    """
    return _Branch(choose=choose, cases={named(case): step for case, step in cases.items()}, name=named(name))


def loop(step: Step[A, A], *, until: Callable[[A], bool], most: int = 10, name: str = "") -> Step[A, A]:
    """Make a step that is done again with what it gave, ``until`` that is so, or as often as ``most``.

    Raises UserError where that would be never.
    """
    if most < 1:
        raise UserError(f"A loop of {most} rounds does nothing.", hint="most is at least 1.")
    return _Loop(step=step, until=until, most=most, name=named(name))


async def run(
    hermes: Hermes,
    flow: Step[A, B],
    given: A = cast("Any", None),  # noqa: B008
    *,
    name: str,
    owner: Principal | None = None,
    bounds: TurnBounds | None = None,
    told: Callable[[Done], object] = bool,
) -> B:
    """Do what is left of a flow, and give what its last step gives.

    Args:
        hermes: Who is asked.
        flow: The step, or the steps put together.
        given: What the first step takes. It is stored, too.
        name: What its sessions are found by: letters, digits, ``_`` and ``-``, 40 at most. Another one does all anew.
        owner: For whom.
        bounds: What each turn may do at most. What may be spent counts for the whole flow, also over deaths; steps that
            are done side by side share what is left.
        told: Is told of each step that is done, or was.

    Raises:
        UserError: the flow of this name was begun with something else, or ``given`` has no form in JSON.
        BudgetReached: nothing is left of what may be spent.
        HermesError: what a turn failed with. The same call goes on from there, as after what a function raised.
    """
    place = await Run.begun(hermes, named(name, needed=True), owner or hermes.owner, bounds, told)
    await place.begin(given)
    value: B = (await flow.play(place, Got(given, untrusted=False))).value
    return value


def _placed(steps: Sequence[Step[Any, Any]]) -> dict[str, Step[Any, Any]]:
    placed = {step.name or str(number): step for number, step in enumerate(steps, 1)}
    if len(placed) < len(steps):
        raise UserError(f"Two steps have one name: {', '.join(step.name for step in steps if step.name)}.")
    return placed


async def _all(works: "list[Any]") -> list[Got]:
    """Wait for all, then give what came of them, or raise what the first one raised that did."""
    found = await asyncio.gather(*works, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return cast("list[Got]", found)


async def _now(function: Callable[[Any], Any], value: Any) -> Any:
    return function(value)
