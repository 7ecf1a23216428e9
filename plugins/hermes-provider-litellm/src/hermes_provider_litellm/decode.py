"""Chunks of the library to deltas."""

from collections.abc import Mapping
from typing import Any

from hermes_core.errors import Unavailable
from hermes_core.types import JSON, CallDelta, Delta, Done, ReasoningDelta, StopReason, TextDelta, Usage, UsageDelta
from hermes_provider_kit.surrogates import mend
from hermes_provider_litellm.messages import BESIDE, THOUGHTS

__all__ = ["ChunkDecoder"]

_REASONS: dict[str, StopReason] = {"length": "length", "content_filter": "refused", "refusal": "refused"}


class ChunkDecoder:
    """Decodes one reply. ``key`` is the provider's key in ``meta``; ``guess`` stands for tokens nobody counted."""

    def __init__(self, key: str, *, guess: int = 0) -> None:
        self._key = key
        self._usage = Usage(calls=1, input=guess)
        self._reason = ""
        self._called: set[int] = set()
        self._thoughts: list[JSON] = []
        self._letters = 0  # of what was said and called
        self._counted = False

    def feed(self, chunk: Mapping[str, Any]) -> list[Delta]:
        """Take the deltas of one chunk."""
        if isinstance(usage := chunk.get("usage"), Mapping):
            self._count(usage)
        choices = chunk.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, Mapping):
            return []
        self._reason = str(first.get("finish_reason") or self._reason)
        said = first.get("delta")
        return self._take(said) if isinstance(said, Mapping) else []

    def end(self, title: str) -> list[Delta]:
        """Take what is left, and Done. ``title`` names the service. Raises Unavailable when the reply was cut."""
        if not self._reason:
            raise Unavailable(f"{title} cut the reply: the stream ended before it was finished.")
        if not (self._counted or self._letters or self._called or self._thoughts):
            # The library makes an end of its own where none came.
            raise Unavailable(f"{title} sent something that is no reply.", hint="Check its address and the network.")
        made: list[Delta] = []
        if self._thoughts:
            made.append(ReasoningDelta(text="", meta={self._key: {THOUGHTS: _joined(self._thoughts)}}))
        usage = self._usage
        if not usage.output and self._letters:
            from attrs import evolve

            usage = evolve(usage, output=max(1, self._letters // 4))
        reason = _REASONS.get(self._reason) or ("tools" if self._called else "stop")
        return [*made, UsageDelta(usage=usage), Done(reason=reason)]

    def _take(self, said: Mapping[str, Any]) -> list[Delta]:
        made: list[Delta] = []
        thought, text, blocks = said.get("reasoning_content"), said.get("content"), said.get(THOUGHTS)
        if isinstance(blocks, list):
            self._thoughts += [dict(block) for block in blocks if isinstance(block, Mapping)]
        if isinstance(thought, str) and thought:
            made.append(ReasoningDelta(text=mend(thought)))
        if isinstance(text, str) and text:
            self._letters += len(text)
            made.append(TextDelta(text=mend(text)))
        calls = said.get("tool_calls")
        made += [self._call(call) for call in (calls if isinstance(calls, list) else []) if isinstance(call, Mapping)]
        return made

    def _call(self, call: Mapping[str, Any]) -> CallDelta:
        given = call.get("function")
        function: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        index = call.get("index")
        at = index if isinstance(index, int) else len(self._called)
        self._called.add(at)
        beside = call.get(BESIDE)
        arguments = mend(str(function.get("arguments") or ""))
        self._letters += len(arguments)
        return CallDelta(
            index=at,
            id=str(call.get("id") or ""),
            name=str(function.get("name") or ""),
            arguments=arguments,
            meta={self._key: {BESIDE: dict(beside)}} if isinstance(beside, Mapping) and beside else {},
        )

    def _count(self, found: Mapping[str, Any]) -> None:
        self._counted = True
        prompt, answer = found.get("prompt_tokens_details"), found.get("completion_tokens_details")
        read = _number(found, "cache_read_input_tokens") or _number(prompt, "cached_tokens")
        self._usage = Usage(
            input=_number(found, "prompt_tokens") or self._usage.input,
            output=_number(found, "completion_tokens"),
            cache_read=read,
            cache_write=_number(found, "cache_creation_input_tokens") or _number(prompt, "cache_creation_tokens"),
            reasoning=_number(answer, "reasoning_tokens"),
            calls=1,
        )


def _number(found: object, name: str) -> int:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else 0


def _joined(blocks: list[JSON]) -> list[JSON]:
    """Put together blocks that came in pieces: a piece without a signature is the beginning of the next."""
    made: list[JSON] = []
    text = ""
    for block in blocks:
        if block.get("type") != "thinking":
            made.append(block)
            continue
        text += str(block.get("thinking") or "")
        if block.get("signature"):
            made.append({**block, "thinking": text})
            text = ""
    return made
