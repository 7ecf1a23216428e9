"""Lines of ``/api/chat`` to deltas."""

import json
import os
from collections.abc import Mapping, Sequence

from hermes_core.errors import Unavailable
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolSpec,
    Usage,
    UsageDelta,
)
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.failures import Service, broken_off
from hermes_provider_kit.surrogates import mend

__all__ = ["LineDecoder"]


class LineDecoder:
    """Decodes one reply. ``tools`` are those on offer; ``guess`` stands for tokens that were not counted."""

    def __init__(self, service: Service, tools: Sequence[ToolSpec] = (), *, guess: int = 0) -> None:
        self._service = service
        self._tools = tools
        self._guess = guess
        self._calls = 0
        self._letters = 0
        self._last: Mapping[str, JSON] = {}
        self.done = False
        self.prompt_tokens = 0  # as it counted them

    def feed(self, event: JSON) -> list[Delta]:
        """Take the deltas of one line. Raises ProviderError."""
        if not isinstance(event, Mapping):
            return []
        if event.get("error"):
            raise broken_off(event, service=self._service)
        said = event.get("message")
        made = self._take(said) if isinstance(said, Mapping) else []
        if event.get("done") is True:
            self.done, self._last = True, event
            self.prompt_tokens = _number(event.get("prompt_eval_count"))
        return made

    def end(self) -> list[Delta]:
        """Take what is left, and Done. Raises Unavailable when the reply was cut, or the model not yet loaded."""
        if not self.done:
            raise Unavailable(f"{self._service.title} cut the reply: the stream ended before it was finished.")
        why = self._last.get("done_reason")
        if why in ("load", "unload"):
            raise Unavailable(f"{self._service.title} only loaded the model, and said nothing.")
        output = _number(self._last.get("eval_count")) or self._letters // 4
        usage = Usage(input=self.prompt_tokens or self._guess, output=output, calls=1)
        reason: StopReason = "length" if why == "length" else "tools" if self._calls else "stop"
        return [UsageDelta(usage=usage), Done(reason=reason)]

    def _take(self, said: Mapping[str, JSON]) -> list[Delta]:
        made: list[Delta] = []
        if isinstance(thought := said.get("thinking"), str) and thought:
            made.append(ReasoningDelta(text=mend(thought)))
        if isinstance(text := said.get("content"), str) and text:
            self._letters += len(text)
            made.append(TextDelta(text=mend(text)))
        calls = said.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                made.append(self._call(function))
        return made

    def _call(self, function: Mapping[str, JSON]) -> CallDelta:
        given = function.get("arguments")
        text = given if isinstance(given, str) else json.dumps(given if isinstance(given, Mapping) else {})
        self._letters += len(text)
        index, self._calls = self._calls, self._calls + 1
        name = str(function.get("name") or "")
        made = CallDelta(index=index, id=f"call_{os.urandom(9).hex()}", name=name, arguments=mend(text))
        return mended_delta(made, self._tools)


def _number(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0
