"""The provider ``offline``: reads a request, takes one step of its plan, or answers."""

import json
import os
import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import CallDelta, Delta, Done, Model, Request, TextDelta, Usage, UsageDelta

MODEL = "rules-1"
_WORD = re.compile(r"\s*\S+|\s+$")


def _now() -> datetime:
    return datetime.now().astimezone()


class Offline(Provider):
    """Rules instead of a model: no download, no network, the same words for the same request."""

    name = "offline"
    priority = 90

    def __init__(self, clock: Callable[[], datetime] = _now) -> None:
        self._clock = clock

    async def models(self) -> Sequence[Model]:
        """One: the set of rules."""
        return [Model(name=MODEL)]

    async def ready(self) -> bool:
        """Always; it needs nothing."""
        return True

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """One tool call, or the answer word by word. Usage counts words, for want of tokens; they cost nothing.

        Raises Refused for another model's name.
        """
        if request.model not in ("", MODEL):
            raise Refused(
                f"Provider offline has no model named {request.model!r}; it has only {MODEL}.",
                hint="Choose a provider and a model with: hermes model",
            )
        from hermes_provider_offline.history import read_history, text_of
        from hermes_provider_offline.plan import next_move
        from hermes_provider_offline.toolbox import Call, Toolbox

        move = next_move(read_history(request.messages), Toolbox(request.tools), self._clock)
        read = sum(len(text_of(message).split()) for message in request.messages)
        if isinstance(move, Call):
            arguments = json.dumps(dict(move.arguments), ensure_ascii=False)
            yield CallDelta(index=0, id=f"call_{os.urandom(8).hex()}", name=move.name, arguments=arguments)
            yield UsageDelta(usage=Usage(input=read, output=len(arguments.split()), calls=1, priced="actual"))
            yield Done(reason="tools")
            return
        words = _WORD.findall(move)
        for word in words:
            yield TextDelta(text=word)
        yield UsageDelta(usage=Usage(input=read, output=len(words), calls=1, priced="actual"))
        yield Done(reason="stop")
