"""Events of ``ConverseStream`` to deltas.

Source: the shape ConverseStreamOutput of the service's own description.
"""

import os
from base64 import b64decode, b64encode
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
from hermes_provider_bedrock.frames import Event
from hermes_provider_bedrock.refusals import broken_off
from hermes_provider_bedrock.turns import BLOCKS
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.failures import Service
from hermes_provider_kit.surrogates import mend, split_half

__all__ = ["ConverseDecoder"]

_REASONS: dict[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}
_BROKEN = ("malformed_tool_use", "malformed_model_output")


class _Call:
    """A call as far as it has come."""

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name, self.pieces = call_id, name, list[str]()


class _Thought:
    """A thought as far as it has come: in words with a signature, or sealed."""

    def __init__(self) -> None:
        self.pieces, self.signature, self.sealed = list[str](), "", list[str]()

    def block(self) -> dict[str, JSON] | None:
        """Give it as it goes back; None for one that is not signed, which the service does not want."""
        if self.sealed:
            return {"reasoningContent": {"redactedContent": _joined(self.sealed)}}
        if self.signature:
            said = {"text": "".join(self.pieces), "signature": self.signature}
            return {"reasoningContent": {"reasoningText": said}}
        return None


class ConverseDecoder:
    """Decodes one reply. ``service`` names the provider in messages, ``key`` is its key in ``meta``.

    ``guess`` stands for the tokens of the request where the reply does not count them. ``tools`` are those on offer: a
    call of one that is written wrong is put right where that is sure.
    """

    def __init__(self, service: Service, key: str, *, guess: int = 0, tools: Sequence[ToolSpec] = ()) -> None:
        self._service, self._key, self._guess, self._tools = service, key, guess, tools
        self._usage = Usage(calls=1)
        self._calls: dict[int, _Call] = {}  # those that are open, by their block
        self._thoughts: dict[int, _Thought] = {}  # all of them, by their block
        self._layout: dict[int, dict[str, JSON]] = {}  # what the other blocks are, by their block
        self._ids: set[str] = set()
        self._half = ""
        self._reason = ""
        self._written = 0  # letters of the reply, for where nothing is counted
        self.begun = False  # something of this protocol has come
        self.failed: ProviderError | None = None  # raised once what came before it was handed on

    def feed(self, events: Sequence[Event]) -> list[Delta]:
        """Take the deltas of some events."""
        made: list[Delta] = []
        for event in events:
            if self.failed is not None:
                break
            if event.failed or event.name.lower().endswith("exception"):
                self.failed = broken_off(event.name, event.body, service=self._service)
                break
            made += self._take(event.name, event.body)
        return made

    def end(self) -> list[Delta]:
        """Take what is left when the stream has ended, and Done. Raises ProviderError when it failed or was cut."""
        if self.failed is not None:
            raise self.failed
        if self._reason in _BROKEN:
            told = f"{self._service.title} wrote a reply that it could not finish ({self._reason})."
            hint = "Ask again; a larger model writes fewer broken calls."
            raise Unavailable(told, reason="invalid_output", hint=hint)
        if not self._reason:
            raise Unavailable(f"{self._service.title} cut the reply: the stream ended before it was finished.")
        made: list[Delta] = [one for index in list(self._calls) for one in self._closed(index)]
        kept = {index: block for index, thought in self._thoughts.items() if (block := thought.block())}
        if kept:
            blocks = [block for _, block in sorted({**self._layout, **kept}.items())]
            made.append(ReasoningDelta(text="", meta={self._key: {BLOCKS: blocks}}))
        usage = self._usage
        if not usage.input:
            usage = evolve(usage, input=self._guess, output=usage.output or self._written // 4 + 1)
        return [*made, UsageDelta(usage=usage), Done(reason=self._stopped())]

    def _take(self, name: str, body: Mapping[str, JSON]) -> list[Delta]:
        index = _number(body.get("contentBlockIndex"))
        if name == "messageStart":
            self.begun = True
        elif name == "contentBlockStart":
            self._start(index, body.get("start"))
        elif name == "contentBlockDelta":
            return self._delta(index, body.get("delta"))
        elif name == "contentBlockStop":
            return [*self._rest(index), *self._closed(index)]
        elif name == "messageStop":
            self.begun = True
            self._reason = str(body.get("stopReason") or "end_turn")
            return self._rest(max(self._layout, default=0))
        elif name == "metadata":
            self._count(body.get("usage"))
        return []

    def _start(self, index: int, start: JSON) -> None:
        self.begun = True
        call = start.get("toolUse") if isinstance(start, Mapping) else None
        if isinstance(call, Mapping) and not call.get("type"):  # else one that the service carries out itself
            given, name = call.get("toolUseId"), call.get("name")
            call_id = given if isinstance(given, str) and given and given not in self._ids else ""
            call_id = call_id or f"tooluse_{os.urandom(12).hex()}"
            self._ids.add(call_id)
            self._calls[index] = _Call(call_id, name if isinstance(name, str) else "")
            self._layout[index] = {"toolUse": call_id}

    def _delta(self, index: int, delta: JSON) -> list[Delta]:
        self.begun = True
        if not isinstance(delta, Mapping):
            return []
        call, thought = delta.get("toolUse"), delta.get("reasoningContent")
        if isinstance(text := delta.get("text"), str) and text:
            self._written += len(text)
            whole, self._half = split_half(self._half + text)
            return self._spoken(index, whole)
        if isinstance(call, Mapping) and index in self._calls and isinstance(piece := call.get("input"), str):
            self._written += len(piece)
            self._calls[index].pieces.append(piece)
        if isinstance(thought, Mapping):
            return self._think(self._thoughts.setdefault(index, _Thought()), thought)
        return []

    def _think(self, thought: _Thought, delta: Mapping[str, JSON]) -> list[Delta]:
        if isinstance(seal := delta.get("signature"), str):
            thought.signature += seal
        if isinstance(sealed := delta.get("redactedContent"), str):
            thought.sealed.append(sealed)
        if isinstance(text := delta.get("text"), str) and text:
            self._written += len(text)
            thought.pieces.append(text)
            return [ReasoningDelta(text=mend(text))]
        return []

    def _spoken(self, index: int, text: str) -> list[Delta]:
        if not text:
            return []
        said = mend(text)
        self._layout.setdefault(index, {"text": 0})
        self._layout[index]["text"] = self._layout[index].get("text", 0) + len(said)
        return [TextDelta(text=said)]

    def _rest(self, index: int) -> list[Delta]:
        half, self._half = self._half, ""
        return self._spoken(index, half)

    def _closed(self, index: int) -> list[Delta]:
        call = self._calls.pop(index, None)
        if call is None:
            return []
        text = mend("".join(call.pieces)).strip() or "{}"
        made = CallDelta(index=len(self._ids) - 1 - len(self._calls), id=call.id, name=call.name, arguments=text)
        # One that is cut by the length of the reply is open at its end, and nothing is closed here.
        return [mended_delta(made, self._tools, cut=True)]

    def _count(self, found: JSON) -> None:
        if not isinstance(found, Mapping):
            return
        read, write = _number(found.get("cacheReadInputTokens")), _number(found.get("cacheWriteInputTokens"))
        self._usage = Usage(
            input=_number(found.get("inputTokens")) + read + write,  # it leaves out what came from its cache
            output=_number(found.get("outputTokens")),
            cache_read=read,
            cache_write=write,
            calls=1,
        )

    def _stopped(self) -> StopReason:
        return _REASONS.get(self._reason) or ("tools" if self._ids else "stop")


def _number(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else 0


def _joined(pieces: Sequence[str]) -> str:
    """Join bytes that came in pieces, each in base64; what is none stays as it came."""
    try:
        return pieces[0] if len(pieces) == 1 else b64encode(b"".join(map(b64decode, pieces))).decode()
    except ValueError:
        return "".join(pieces)
