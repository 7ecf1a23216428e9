"""A model that says what the test wrote down, and complains when the play goes otherwise."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import Factory

from hermes_core.errors import ProviderError
from hermes_core.kinds import Provider
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    Endpoint,
    Model,
    ReasoningDelta,
    Request,
    TextDelta,
    Usage,
    UsageDelta,
)
from hermes_core.values import frozen

__all__ = ["Call", "Fail", "Say", "ScriptedProvider", "Step"]


@frozen
class Say:
    """Answer with this text, in pieces of one word each; ``thinking`` comes first."""

    text: str
    thinking: str = ""


@frozen
class Call:
    """Call a tool. Several in one list are the calls of one reply."""

    name: str
    arguments: Mapping[str, JSON] = Factory(dict)
    id: str = ""


@frozen
class Fail:
    """Raise this error, after ``said`` when there is some."""

    error: BaseException
    said: str = ""


Step: TypeAlias = "Say | Call | Fail | str | Sequence[Call] | Sequence[Delta] | Callable[[Request], Step]"


class ScriptedProvider(Provider):
    """Plays one step for each request and keeps the requests in ``requests``.

    A step is a text, ``Say``, ``Call`` (or a list of them), ``Fail``, a list of deltas, or a function that looks at the
    request and gives a step. ``check`` fails when steps are left over or a request came that no step was written for;
    the ``scripted`` fixture calls it.
    """

    priority = 50

    def __init__(self, steps: Iterable[Step] = (), *, name: str = "scripted", models: Sequence[Model] = ()) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._models = tuple(models) or (Model(name="scripted-1", context=128_000),)
        self._steps: list[Step] = list(steps)
        self._played = 0
        self._unexpected: list[Request] = []

    def add(self, *steps: Step) -> None:
        """Write more steps at the end."""
        self._steps.extend(steps)

    def check(self) -> None:
        """Raises AssertionError when steps were not played or requests were not expected."""
        left = len(self._steps) - self._played
        assert not left, f"{left} of {len(self._steps)} scripted steps were never played: {self._steps[self._played :]}"
        assert not self._unexpected, (
            f"{len(self._unexpected)} model calls came that no step was written for; "
            f"the last message was {self._unexpected[0].messages[-1]}"
        )

    async def models(self) -> Sequence[Model]:
        """The models it was made with."""
        return self._models

    async def ready(self) -> bool:
        """Always."""
        return True

    def window(self, model: str) -> int:
        """The context of the model it was made with."""
        return next((m.context for m in self._models if m.name == model), 0)

    def at(self, endpoint: Endpoint) -> Provider:
        """Itself: a script has no address."""
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Play the next step."""
        self.requests.append(request)
        if self._played >= len(self._steps):
            self._unexpected.append(request)
            raise ProviderError(
                f"The script has {len(self._steps)} steps and this is model call {len(self.requests)}.",
                hint="Write another step, or find out why the model was asked again.",
            )
        step = self._steps[self._played]
        self._played += 1
        while callable(step):
            step = step(request)
        for delta in _deltas(step, self._played):
            yield delta
        if isinstance(step, Fail):
            raise step.error


def _deltas(step: Step, number: int) -> Iterable[Delta]:
    match step:
        case str():
            return _said(Say(step))
        case Say():
            return _said(step)
        case Fail():
            return [TextDelta(text=step.said)] if step.said else []
        case Call():
            return _called([step], number)
        case [Call(), *_]:
            return _called([c for c in step if isinstance(c, Call)], number)
    return [d for d in step if not isinstance(d, Call | str)] if isinstance(step, Sequence) else []


def _said(step: Say) -> list[Delta]:
    words = step.text.split(" ")
    pieces = [f"{w} " for w in words[:-1]] + words[-1:]
    thinking: list[Delta] = [ReasoningDelta(text=step.thinking)] if step.thinking else []
    usage = UsageDelta(usage=Usage(input=10, output=len(words), calls=1))
    return [*thinking, *(TextDelta(text=p) for p in pieces if p), usage, Done(reason="stop")]


def _called(calls: Sequence[Call], number: int) -> list[Delta]:
    deltas: list[Delta] = []
    for index, call in enumerate(calls):
        text = json.dumps(dict(call.arguments), ensure_ascii=False)
        middle = len(text) // 2
        deltas += [
            CallDelta(index=index, id=call.id or f"call-{number}-{index + 1}", name=call.name),
            CallDelta(index=index, arguments=text[:middle]),
            CallDelta(index=index, arguments=text[middle:]),
        ]
    return [*deltas, UsageDelta(usage=Usage(input=10, output=5 * len(calls), calls=1)), Done(reason="tools")]
