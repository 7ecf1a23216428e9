"""Answers of a type: the model is held to its schema, what does not fit is asked for anew, the value comes back.

async with Hermes() as hermes:
    city = await run(hermes, "Where is the Munch museum?", returns=City)
    print(city.value.name, city.usage)

Corrections are no part of the conversation: it holds the question and the answer that fits.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, TypeVar, Unpack, overload

import attrs

from hermes_core.embed import Answer, Hermes, HowTurn
from hermes_core.errors import HermesError, UserError
from hermes_core.types import JSON, Called, Event, Message, Noticed, Said
from hermes_shapes.functions import schema_of, value_of
from hermes_shapes.results import text_of
from hermes_shapes.schema import misfits

__all__ = ["Answered", "Partial", "Shape", "run", "stream"]

T = TypeVar("T")

_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_OPENED = re.compile(r"\A\s*```(?:json)?[ \t]*\n")
_TOLD = 1_000  # characters of what is wrong that a model is told


@attrs.frozen(kw_only=True)
class Answered(Answer, Generic[T]):
    """What a turn came to, with its ``value``."""

    value: T


@attrs.frozen
class Partial:
    """As much of an answer as is there: a value of JSON, whose last text may still grow."""

    value: JSON


class Shape(Generic[T]):
    """What an answer has to be, for one turn: ``Hermes.run(returns=Shape(City))``.

    ``value`` is what the last answer held that ``fits``.
    """

    def __init__(self, kind: Any, tries: int = 3) -> None:
        """Take a type, and how many answers a model may give. Raises UserError for one that has no schema."""
        if tries < 1:
            raise UserError(f"{tries} tries give no answer.", hint="tries is at least 1.")
        try:
            schema, self._kind = _whole(schema_of(kind)), kind
        except TypeError as error:
            raise UserError(f"returns: {error}.") from error
        self._inside = schema.get("type") != "object"  # services want an object at the top
        defs = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        self.schema: Mapping[str, JSON] = {**(_inside(schema) if self._inside else schema), **defs}
        self.tries = tries
        self.value: T | None = None
        self.fits = False

    def misfit(self, text: str) -> str:
        """Say what is wrong with an answer, for the model; empty where nothing is. Keeps its value."""
        try:
            self.value, self.fits = self.read(text), True
        except RecursionError:
            return "it is nested too deeply"
        except (ValueError, TypeError) as error:
            return str(error)[:_TOLD] or type(error).__name__
        except (AssertionError, ArithmeticError, LookupError) as error:  # a class refuses by them, too
            return f"{type(error).__name__}: {error}"[:_TOLD]
        return ""

    def read(self, text: str) -> T:
        """Give the value that a text holds. Raises ValueError, or what its class raises, where it holds none."""
        fenced = _FENCED.match(text)
        try:
            found = json.loads(fenced[1] if fenced else text, parse_constant=_refused)
        except ValueError as error:
            raise ValueError(f"it is no JSON: {error}") from None
        if wrong := [*misfits(self.schema, found, self.schema, "answer")]:
            raise ValueError("; ".join(wrong[:5]))
        value: T = value_of(self._kind, found["value"] if self._inside else found)
        return value

    def write(self, value: Any) -> str:
        """Give the text that ``read`` makes the value of. Raises TypeError for one that has no form in JSON."""
        made = text_of({"value": value})  # within, as a text or nothing alone would be no JSON
        return made if self._inside else json.dumps(json.loads(made)["value"], ensure_ascii=False)

    def partial(self, text: str) -> JSON:
        """Give as much as a text that still comes holds; None for nothing yet."""
        import jiter  # of no use to who does not stream

        try:
            found = jiter.from_json(_OPENED.sub("", text).encode(), partial_mode="trailing-strings")
        except ValueError:
            return None
        return found.get("value") if self._inside and isinstance(found, dict) else found


@overload
async def run(
    hermes: Hermes, message: str | Message, *, returns: type[T], tries: int = 3, **how: Unpack[HowTurn]
) -> Answered[T]: ...
@overload
async def run(
    hermes: Hermes, message: str | Message, *, returns: Any, tries: int = 3, **how: Unpack[HowTurn]
) -> Answered[Any]: ...
async def run(
    hermes: Hermes, message: str | Message, *, returns: Any, tries: int = 3, **how: Unpack[HowTurn]
) -> Answered[Any]:
    """Answer one message with a value.

    Args:
        hermes: Who answers.
        message: What is asked.
        returns: What the answer is: a dataclass, attrs class, pydantic model, TypedDict, Enum, Literal, list, dict,
            union or plain type, also within each other.
        tries: How many answers the model may give, each with what was wrong with the one before.
        how: As of ``Hermes.run``: ``session``, ``owner``, ``model``, ``system``, ``ask``, ``bounds`` …

    Raises:
        UserError: the type has no schema.
        Refused: no answer did fit.
        HermesError: what else the turn failed with.
    """
    shape: Shape[Any] = Shape(returns, tries)
    return _answered(shape, await hermes.run(message, returns=shape, **how))


@overload
def stream(
    hermes: Hermes, message: str | Message, *, returns: type[T], tries: int = 3, **how: Unpack[HowTurn]
) -> AsyncGenerator[Partial | Answered[T], None]: ...
@overload
def stream(
    hermes: Hermes, message: str | Message, *, returns: Any, tries: int = 3, **how: Unpack[HowTurn]
) -> AsyncGenerator[Partial | Answered[Any], None]: ...
async def stream(
    hermes: Hermes, message: str | Message, *, returns: Any, tries: int = 3, **how: Unpack[HowTurn]
) -> AsyncGenerator[Partial | Answered[Any], None]:
    """Answer one message with a value, and tell how it grows; the whole answer comes last. Takes and raises as ``run``.

    An answer that does not fit is begun anew: what was told of it does not hold any more.
    """
    shape: Shape[Any] = Shape(returns, tries)
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(hermes.run(message, returns=shape, told=events.put_nowait, **how))
    work.add_done_callback(lambda _: events.put_nowait(None))
    text, last = "", None
    try:
        while (event := await events.get()) is not None:
            if isinstance(event, Called | Noticed):  # what was said is not the answer
                text = ""
            if isinstance(event, Said):
                text += event.text
                if (part := shape.partial(text)) is not None and part != last:
                    yield Partial(last := part)
        yield _answered(shape, work.result())
    finally:
        work.cancel()
        await asyncio.wait([work])


def _answered(shape: Shape[Any], answer: Answer) -> Answered[Any]:
    if not shape.fits:  # it was ended by something else than a reply
        raise HermesError(f"The turn ended without an answer of its type: {answer.text or answer.reason}")
    return Answered(**attrs.asdict(answer, recurse=False), value=shape.value)


def _whole(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Bring what references lead to to the top of a schema, where they look. Raises TypeError for two of one name."""
    known: dict[str, JSON] = {}

    def walked(value: JSON) -> JSON:
        if isinstance(value, list):
            return [walked(one) for one in value]
        if not isinstance(value, dict):
            return value
        for name, one in value.get("$defs", {}).items():
            made = walked(one)
            if known.setdefault(name, made) != made:
                raise TypeError(f"two models are called {name}")
        return {name: walked(one) for name, one in value.items() if name != "$defs"}

    whole: dict[str, JSON] = walked(dict(schema))
    return {**whole, "$defs": known} if known else whole


def _inside(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    return {"type": "object", "properties": {"value": schema}, "required": ["value"], "additionalProperties": False}


def _refused(word: str) -> JSON:
    raise ValueError(f"{word} is no JSON")
