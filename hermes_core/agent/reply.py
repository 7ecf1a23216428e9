"""Putting a reply together from the pieces of a stream, tolerant of every way a model gets it wrong."""

import json
import math
import os

from attrs import evolve

from hermes_core.codec import clean, clean_json, dumps
from hermes_core.errors import Unavailable
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    Message,
    Meta,
    Part,
    Reasoning,
    ReasoningDelta,
    Response,
    Text,
    TextDelta,
    ToolCall,
    Usage,
    UsageDelta,
)

_DEEP = 200  # levels of nesting a tool's arguments may have; deeper ones are hostile or broken
_LONGEST_ID = 20_000  # characters; some services hide a signature in the id of a call, so this is generous
_LONGEST_NAME = 256
_TOO_DEEP = "the arguments are nested too deeply"


class Reply:
    """Collects deltas; ``finish`` gives the whole reply. Unknown deltas are ignored."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._reasoning_meta: dict[str, JSON] = {}
        self._calls: dict[int, CallDelta] = {}
        self._usage = Usage()
        self.begun = False
        self.done: Done | None = None

    def add(self, delta: Delta) -> None:
        """Take the next piece."""
        self.begun = self.begun or isinstance(delta, Delta)
        if isinstance(delta, TextDelta):
            self._text.append(delta.text)
        elif isinstance(delta, ReasoningDelta):
            self._reasoning.append(delta.text)
            self._reasoning_meta.update(delta.meta)
        elif isinstance(delta, CallDelta):
            self._add_call(delta)
        elif isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, Done):
            self.done = delta

    def _add_call(self, delta: CallDelta) -> None:
        known = self._calls.get(delta.index)
        if known is None:
            self._calls[delta.index] = delta
            return
        self._calls[delta.index] = evolve(
            known,
            id=known.id or delta.id,
            name=known.name or delta.name,
            arguments=known.arguments + delta.arguments,
            meta={**known.meta, **delta.meta},
        )

    def finish(self, by: str = "its provider") -> Response:
        """Return the whole reply, that a plugin gave. Raises Unavailable when the stream ended without saying so."""
        if self.done is None:
            hint = f"Send the message again. Where it is always so, {by} does not end its replies."
            raise Unavailable("The model's reply was cut off before its end.", hint=hint)
        parts: list[Part] = []
        if self._reasoning or self._reasoning_meta:
            parts.append(Reasoning(text=clean("".join(self._reasoning)), meta=_sound(self._reasoning_meta)))
        if text := clean("".join(self._text)):
            parts.append(Text(text=text))
        seen: set[str] = set()
        for index in sorted(self._calls):
            cut = self.done.reason == "length" and index == max(self._calls)
            call = _tool_call(self._calls[index], cut=cut)
            if not call.id or call.id in seen:  # every call needs an id of its own, or its result cannot be told apart
                call = evolve(call, id=f"call_{os.urandom(8).hex()}")
            seen.add(call.id)
            parts.append(call)
        usage = evolve(self._usage, calls=max(1, self._usage.calls))
        message = Message(role="assistant", parts=tuple(parts), meta=_sound(self.done.meta))
        return Response(message=message, reason=self.done.reason, usage=usage)


def _tool_call(delta: CallDelta, *, cut: bool) -> ToolCall:
    arguments, invalid = read_arguments(delta.arguments)
    if cut and (invalid or not delta.arguments.strip()):  # arguments that did not begin are no arguments
        invalid = "the reply reached its length limit in the middle of this call"
    meta = _sound({**delta.meta, "hermes": {"raw": delta.arguments[:2000]}} if invalid else delta.meta)
    call_id = clean(delta.id) if len(delta.id) <= _LONGEST_ID else ""
    name = clean(delta.name).strip()[:_LONGEST_NAME]
    return ToolCall(id=call_id, name=name, arguments=arguments, invalid=invalid, meta=meta)


def _sound(meta: Meta) -> Meta:
    """Return what a provider wants kept, as it will be read again from the store; nothing when that cannot be."""
    try:
        kept = json.loads(dumps(meta)) if meta else {}
    except (ValueError, TypeError, RecursionError):
        return {}
    return {} if _flaw(kept) == _TOO_DEEP else kept


def read_arguments(text: str) -> tuple[dict[str, JSON], str]:
    """Return arguments as a mapping, and why they could not be read (empty when they could)."""
    if not text.strip():
        return {}, ""
    try:
        value = json.loads(text)
        if isinstance(value, str):  # some models encode twice
            value = json.loads(value)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON ({clean(str(error)[:200])})"
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {type(value).__name__}"
    flaw = _flaw(value)
    return ({}, flaw) if flaw else (clean_json(value), "")


def _flaw(value: JSON) -> str:
    """Say why a JSON value cannot be kept and sent again, or nothing."""
    level, flaw = [value], ""
    for _ in range(_DEEP):
        if any(isinstance(item, float) and not math.isfinite(item) for item in level):
            return "the arguments hold a number that JSON has no word for"  # NaN, or 1e999, which reads as infinity
        if any(isinstance(item, str) and "\0" in item for item in level):  # without it a path would be another one
            flaw = "the arguments hold a NUL character (\\u0000), which no path, command or text may hold; leave it out"
        level = [
            inner
            for item in level
            for inner in ((*item, *item.values()) if isinstance(item, dict) else item if isinstance(item, list) else ())
        ]
        if not level:
            return flaw
    return _TOO_DEEP
