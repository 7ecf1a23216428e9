"""Events of ``streamGenerateContent`` to deltas."""

import json
import os
from collections.abc import Mapping, Sequence

from hermes_core.errors import ProviderError, Unavailable
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
from hermes_provider_gemini.body import SIGNATURE
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.failures import Service
from hermes_provider_kit.surrogates import mend

__all__ = ["ContentDecoder"]

_REFUSED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
_BROKEN = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE")


class ContentDecoder:
    """Decodes one reply. ``service`` names the provider in messages, ``key`` is its key in ``meta``.

    ``guess`` stands for the tokens of the request where the reply does not count them. ``tools`` are those on offer: a
    call of one that is written wrong is put right where that is sure.
    """

    def __init__(self, service: Service, key: str, *, guess: int = 0, tools: Sequence[ToolSpec] = ()) -> None:
        self._tools = tools
        self._service = service
        self._key = key
        self._guess = guess
        self._usage = Usage(calls=1)
        self._calls = 0
        self._reason = ""
        self._blocked = ""
        self._said = ""  # what the service says of its reason
        self.begun = False  # something of this protocol has come
        self.failed: ProviderError | None = None  # raised once what came before it was handed on

    def feed(self, events: Sequence[Mapping[str, JSON]]) -> list[Delta]:
        """Take the deltas of some events."""
        made: list[Delta] = []
        for event in events:
            if self.failed is not None:
                break
            if isinstance(event.get("error"), Mapping):
                from hermes_provider_kit.failures import broken_off

                self.failed = broken_off(event, service=self._service)
                break
            made += self._take(event)
        return made

    def end(self) -> list[Delta]:
        """Take what is left when the stream has ended, and Done. Raises ProviderError when it failed or was cut."""
        if self.failed is not None:
            raise self.failed
        if self._reason in _BROKEN:
            told = f"{self._service.title} wrote a tool call that it could not finish ({self._reason})."
            raise Unavailable(
                told, reason="invalid_output", hint="Ask again; a larger model writes fewer broken calls."
            )
        if not self._reason and not self._blocked:
            raise Unavailable(f"{self._service.title} cut the reply: the stream ended before it was finished.")
        usage = self._usage
        if not usage.input:
            from attrs import evolve

            usage = evolve(usage, input=self._guess)
        words: list[Delta] = [TextDelta(text=mend(self._said))] if self._said and self._stopped() == "refused" else []
        return [*words, UsageDelta(usage=usage), Done(reason=self._stopped())]

    def _take(self, event: Mapping[str, JSON]) -> list[Delta]:
        self._count(event.get("usageMetadata"))
        feedback = event.get("promptFeedback")
        if isinstance(feedback, Mapping) and isinstance(feedback.get("blockReason"), str):
            self.begun = True
            self._blocked = feedback["blockReason"]
            self._said = str(feedback.get("blockReasonMessage") or "")
        candidates = event.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(first, Mapping):
            return []
        self.begun = True
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        made: list[Delta] = []
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, Mapping):
                made += self._part(part)
        if isinstance(reason := first.get("finishReason"), str) and reason != "FINISH_REASON_UNSPECIFIED":
            self._reason = reason
            self._said = str(first.get("finishMessage") or "")
        return made

    def _part(self, part: Mapping[str, JSON]) -> list[Delta]:
        seal = part.get("thoughtSignature")
        kept: dict[str, JSON] = {self._key: {SIGNATURE: seal}} if isinstance(seal, str) and seal else {}
        call = part.get("functionCall")
        if isinstance(call, Mapping):
            return [self._call(call, kept)]
        text = part.get("text")
        made: list[Delta] = []
        if isinstance(text, str) and text:
            made.append(ReasoningDelta(text=mend(text)) if part.get("thought") is True else TextDelta(text=mend(text)))
        if kept:
            made.append(ReasoningDelta(text="", meta=kept))
        return made

    def _call(self, call: Mapping[str, JSON], kept: dict[str, JSON]) -> CallDelta:
        index, self._calls = self._calls, self._calls + 1
        given = call.get("args")
        arguments = json.dumps(given if isinstance(given, Mapping) else {}, ensure_ascii=False)
        # Its own ids begin anew with each reply, or are left out; results are matched by their place and name.
        call_id, name = f"call_{os.urandom(12).hex()}", str(call.get("name") or "")
        made = CallDelta(index=index, id=call_id, name=name, arguments=mend(arguments), meta=kept)
        return mended_delta(made, self._tools)

    def _count(self, found: JSON) -> None:
        if not isinstance(found, Mapping):
            return
        thought = _number(found.get("thoughtsTokenCount"))
        self._usage = Usage(
            input=_number(found.get("promptTokenCount")) + _number(found.get("toolUsePromptTokenCount")),
            output=_number(found.get("candidatesTokenCount")) + thought,
            cache_read=_number(found.get("cachedContentTokenCount")),
            reasoning=thought,
            calls=1,
        )

    def _stopped(self) -> StopReason:
        if self._blocked or self._reason in _REFUSED:
            return "refused"
        if self._reason == "MAX_TOKENS":
            return "length"
        return "tools" if self._calls else "stop"


def _number(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else 0
