"""Messages events to deltas: one reply, with the layout of its blocks where it holds thoughts."""

import json
import os
from collections.abc import Mapping, Sequence

from attrs import evolve

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
from hermes_provider_anthropic.thoughts import BLOCKS
from hermes_provider_anthropic.usage import grow_usage
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.failures import Service
from hermes_provider_kit.surrogates import mend, split_half

__all__ = ["MessageDecoder"]

_REASONS: dict[str, StopReason] = {
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}


class _Block:
    """One block of the reply as far as it has come."""

    __slots__ = ("data", "id", "input", "kind", "name", "pieces", "signature")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pieces: list[str] = []  # of its text, its thought or its arguments
        self.signature: list[str] = []
        self.data = ""
        self.id = ""
        self.name = ""
        self.input: JSON = None  # arguments that came whole

    def text(self) -> str:
        return mend("".join(self.pieces))


class MessageDecoder:
    """Decodes one reply. ``service`` names the provider in messages, ``key`` is its key in ``meta``.

    ``guess`` stands for the tokens of the request where the reply does not count them: llama.cpp's server leaves out
    the first event now and then. ``tools`` are those on offer: a call of one that is written wrong is put right where
    that is sure.
    """

    def __init__(self, service: Service, key: str, *, guess: int = 0, tools: Sequence[ToolSpec] = ()) -> None:
        self._tools = tools
        self._service = service
        self._key = key
        self._guess = guess
        self._usage = Usage(calls=1)
        self._blocks: list[_Block] = []
        self._open: dict[JSON, _Block] = {}
        self._last: _Block | None = None  # whose text is held back, to be handed on together
        self._held: list[str] = []
        self._out: list[Delta] = []
        self._ids: set[str] = set()
        self._reason = ""
        self._details: JSON = None
        self.begun = False  # something of this protocol has come
        self.done = False  # the end was announced
        self.failed: ProviderError | None = None  # raised once what came before it was handed on

    @property
    def ending(self) -> bool:
        """Whether the reply itself is whole; its end may still be announced."""
        return bool(self._reason)

    def feed(self, events: Sequence[Mapping[str, JSON]]) -> list[Delta]:
        """The deltas of some events; neighboring pieces of text become one.

        An error among them ends the reply: it is kept in ``failed``, so that what came before it is not lost.
        """
        for event in events:
            if self.failed is None and not self.done:
                self._take(event)
        self._flush()
        out, self._out = self._out, []
        return out

    def whole(self, message: Mapping[str, JSON]) -> list[Delta]:
        """The deltas of a reply that came as one object instead of a stream."""
        content = message.get("content")
        events: list[Mapping[str, JSON]] = [{"type": "message_start", "message": message}]
        for at, block in enumerate(content if isinstance(content, list) else []):
            events.append({"type": "content_block_start", "index": at, "content_block": block})
            events.append({"type": "content_block_stop", "index": at})
        events.append({"type": "message_delta", "delta": message})
        return self.feed([*events, {"type": "message_stop"}])

    def end(self) -> list[Delta]:
        """What is left when the stream has ended, and Done. Raises ProviderError when it failed or was cut."""
        if self.failed is not None:
            raise self.failed
        if not self._reason and not self.done:
            raise Unavailable(f"{self._service.title} cut the reply: the stream ended before it was finished.")
        for block in list(self._open.values()):
            self._close(block)
        self._flush(final=True)
        out, self._out = self._out, []
        if self._reason == "refusal" and not any(block.kind == "text" and block.text() for block in self._blocks):
            out += self._explained()
        if any(block.kind in ("thinking", "redacted_thinking") for block in self._blocks):
            out.append(ReasoningDelta(text="", meta={self._key: {BLOCKS: self._layout()}}))
        usage = self._usage if self._usage.input else evolve(self._usage, input=self._guess)
        return [*out, UsageDelta(usage=usage), Done(reason=self._stop_reason())]

    def _take(self, event: Mapping[str, JSON]) -> None:
        kind = event.get("type")
        if kind == "content_block_delta":
            self._delta(event)
        elif kind == "content_block_start":
            self._start(event)
        elif kind == "content_block_stop":
            block = self._open.pop(_index(event), None)
            if block is not None:
                self._close(block)
        elif kind == "message_start":
            self.begun = True
            message = event.get("message")
            self._count(message.get("usage") if isinstance(message, dict) else None)
        elif kind == "message_delta":
            self._ending(event)
        elif kind == "message_stop":
            self.begun = self.done = True
        elif kind == "error" or (kind is None and event.get("error")):
            from hermes_provider_kit.failures import broken_off

            self.failed = broken_off(event.get("error") or event, service=self._service)

    def _start(self, event: Mapping[str, JSON]) -> None:
        found = event.get("content_block")
        if not isinstance(found, dict) or not isinstance(found.get("type"), str):
            return
        block = self._new(found["type"], _index(event))
        block.id, block.name = _word(found.get("id")), _word(found.get("name"))
        block.data = _word(found.get("data"))
        block.input = found.get("input")
        for field in ("text", "thinking", "signature"):
            if block.kind in ("text", "thinking") and isinstance(found.get(field), str):
                self._grow(block, field, found[field])

    def _delta(self, event: Mapping[str, JSON]) -> None:
        delta = event.get("delta")
        if not isinstance(delta, dict):
            return
        kind, field = _DELTAS.get(str(delta.get("type")), ("", ""))
        piece = delta.get(field)
        if not kind or not isinstance(piece, str):
            return
        block = self._open.get(_index(event))
        if block is None:  # its start was left out
            block = self._new(kind, _index(event))
        if block.kind == kind:
            self._grow(block, field, piece)

    def _new(self, kind: str, index: JSON) -> _Block:
        self.begun = True
        block = _Block(kind)
        before = self._open.get(index)
        if before is not None:  # its end was left out
            self._close(before)
        self._open[index] = block
        self._blocks.append(block)
        return block

    def _grow(self, block: _Block, field: str, piece: str) -> None:
        if field == "signature":
            block.signature.append(piece)
        elif piece:
            if block.kind != "tool_use" and self._last is not block:
                self._flush(final=True)
                self._last = block
            block.pieces.append(piece)
            if block.kind != "tool_use":
                self._held.append(piece)

    def _close(self, block: _Block) -> None:
        if block.kind != "tool_use":
            return
        self._flush(final=True)
        block.id = self._unique(block.id)
        text = block.text().strip()
        if not text:
            text = json.dumps(block.input, ensure_ascii=False) if block.input else "{}"
        index = len(self._ids) - 1
        made = CallDelta(index=index, id=block.id, name=block.name, arguments=mend(text))
        # One that is cut by the length of the reply is open at its end, and nothing is closed here.
        self._out.append(mended_delta(made, self._tools, cut=True))

    def _unique(self, call_id: str) -> str:
        made = call_id if call_id and call_id not in self._ids else f"toolu_{os.urandom(12).hex()}"
        self._ids.add(made)
        return made

    def _flush(self, *, final: bool = False) -> None:
        if self._last is None or not self._held:
            return
        held = "".join(self._held)
        text, half = (held, "") if final else split_half(held)
        self._held = [half] if half else []
        if text:
            made = TextDelta if self._last.kind == "text" else ReasoningDelta
            self._out.append(made(text=mend(text)))

    def _ending(self, event: Mapping[str, JSON]) -> None:
        self._count(event.get("usage"))
        delta = event.get("delta")
        if isinstance(delta, dict) and isinstance(delta.get("stop_reason"), str):
            self._reason = delta["stop_reason"]
            self._details = delta.get("stop_details")

    def _count(self, usage: JSON) -> None:
        if isinstance(usage, dict):
            self._usage = grow_usage(self._usage, usage)

    def _stop_reason(self) -> StopReason:
        reason = _REASONS.get(self._reason, "stop")
        if reason in ("stop", "tools"):
            return "tools" if self._ids else "stop"
        return reason

    def _explained(self) -> list[Delta]:
        why = self._details.get("explanation") if isinstance(self._details, dict) else None
        return [TextDelta(text=mend(why))] if isinstance(why, str) and why else []

    def _layout(self) -> list[dict[str, JSON]]:
        made: list[dict[str, JSON]] = []
        for block in self._blocks:
            if block.kind == "thinking":
                made.append({"type": "thinking", "thinking": block.text(), "signature": mend("".join(block.signature))})
            elif block.kind == "redacted_thinking":
                made.append({"type": "redacted_thinking", "data": block.data})
            elif block.kind == "text":
                made.append({"type": "text", "length": len(block.text())})
            elif block.kind == "tool_use":
                made.append({"type": "tool_use", "id": block.id})
        return made


def _index(event: Mapping[str, JSON]) -> JSON:
    index = event.get("index")
    return index if isinstance(index, int | str) else 0


def _word(value: JSON) -> str:
    return mend(value.strip()) if isinstance(value, str) else ""
