"""Chat-completions events to deltas: one reply, in any dialect, normalized."""

from collections.abc import Mapping, Sequence

from hermes_core.errors import ProviderError, Unavailable
from hermes_core.types import JSON, Delta, Done, ReasoningDelta, StopReason, TextDelta, ToolSpec, Usage, UsageDelta
from hermes_openai_wire.calls import CallCollector
from hermes_openai_wire.usage import read_usage
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import DONE
from hermes_provider_kit.surrogates import mend, split_half

__all__ = ["ChatDecoder", "says"]

_REASONS: dict[str, StopReason] = {
    "tool_calls": "tools",
    "tool_call": "tools",
    "tool_use": "tools",
    "function_call": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "content_filter": "refused",
    "safety": "refused",
    "refusal": "refused",
    "sensitive": "refused",
    "content_filtered": "refused",
    "prohibited_content": "refused",
    "recitation": "refused",
}
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource", "network_error", "abort"})
_SUMMARY = ("text", "summary", "data")


class ChatDecoder:
    """Decodes one reply. ``service`` names the provider in messages, ``key`` is its key in ``meta``.

    ``tools`` are those on offer: a call of one that is written wrong is put right where that is sure.
    """

    def __init__(self, service: Service, key: str, tools: Sequence[ToolSpec] = ()) -> None:
        self._tools = tools
        self._service = service
        self._key = key
        self._calls = CallCollector(key)
        self._usage = Usage(calls=1)
        self._reason: StopReason | None = None
        self._refused = False
        self._said = False
        self._out: list[Delta] = []
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._text_half = ""  # the first half of a character whose other half comes with the next event
        self._thought_half = ""
        self._field = ""
        self._details: list[dict[str, JSON]] = []
        self.done = False  # the end was announced
        self.failed: ProviderError | None = None  # raised once what came before it was handed on

    @property
    def finished(self) -> bool:
        """Whether the reply itself is whole; usage may still come."""
        return self._reason is not None

    def feed(self, events: Sequence[JSON]) -> list[Delta]:
        """The deltas of some events; neighboring pieces of text become one.

        An error among them ends the reply: it is kept in ``failed``, so that what came before it is not lost.
        """
        try:
            self._read(events)
        except ProviderError as error:
            self.failed = error
        self._flush()
        out, self._out = self._out, []
        return out

    def _read(self, events: Sequence[JSON]) -> None:
        text = self._text
        for event in events:
            # The shape nearly every event has; whatever differs takes the long way, so this only saves time.
            try:
                (choice,) = event["choices"]
                delta = choice["delta"]
                content = delta["content"]
                plain = len(delta) == 1 and choice["finish_reason"] is None and type(content) is str
            except (TypeError, KeyError, ValueError):
                plain = False
            if plain and "error" not in event and not event.get("usage"):
                if self._thoughts:
                    self._flush_thoughts()
                text.append(content)
            else:
                self._take(event)

    def end(self) -> list[Delta]:
        """What is left when the stream has ended, and Done. Raises ProviderError when it failed, was cut or empty."""
        if self.failed is not None:
            raise self.failed
        if self._reason is None:
            if not self.done:
                raise Unavailable(f"{self._service.title} cut the reply: the stream ended before it was finished.")
            if not self._said and not self._calls:
                raise Unavailable(f"{self._service.title} sent an empty reply.")
        self._flush(final=True)
        cut = self._reason == "length"
        calls = [mended_delta(call, self._tools, cut=cut) for call in self._calls.deltas()]
        out: list[Delta] = [*self._out, *calls, UsageDelta(usage=self._usage)]
        self._out = []
        out.append(Done(reason=self._stop_reason(bool(calls)), meta=self._meta()))
        return out

    def _stop_reason(self, called: bool) -> StopReason:
        if self._refused:
            return "refused"
        if called and self._reason in (None, "stop", "tools"):
            return "tools"
        return "stop" if self._reason in (None, "tools") else self._reason

    def _meta(self) -> dict[str, JSON]:
        kept: dict[str, JSON] = {}
        if self._field:
            kept["field"] = self._field
        if self._details:
            kept["reasoning_details"] = [
                {key: "".join(value) if isinstance(value, _Pieces) else value for key, value in detail.items()}
                for detail in self._details
            ]
        return {self._key: kept} if kept else {}

    def _take(self, event: JSON) -> None:
        if event is DONE:
            self.done = True
            return
        if not isinstance(event, dict):
            return
        choices = event.get("choices")
        if error := _error_in(event):
            raise self._failure(error)
        choice = choices[0] if isinstance(choices, list) and choices else None
        self._take_usage(event, choice)
        if isinstance(choice, dict):
            self._take_choice(choice)

    def _take_usage(self, event: Mapping[str, JSON], choice: JSON) -> None:
        groq = event.get("x_groq")
        for holder in (event, choice, groq):
            found = holder.get("usage") if isinstance(holder, dict) else None
            if isinstance(found, dict) and found:
                self._usage = read_usage(found)
                return

    def _take_choice(self, choice: Mapping[str, JSON]) -> None:
        if error := _error_in(choice):
            raise self._failure(error)
        body = choice.get("delta")
        if not isinstance(body, dict) or not body:
            body = choice.get("message")
        if isinstance(body, dict):
            self._take_body(body)
        elif isinstance(choice.get("text"), str):
            self._say(choice["text"])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish(reason.strip().lower())

    def _failure(self, error: JSON) -> ProviderError:
        from hermes_provider_kit.failures import broken_off

        return broken_off(error, service=self._service)

    def _finish(self, reason: str) -> None:
        if reason in _BROKEN_OFF:
            raise Unavailable(f"{self._service.title} broke off the reply ({reason}).")
        self._reason = _REASONS.get(reason, "stop")

    def _take_body(self, body: Mapping[str, JSON]) -> None:
        self._think(body)
        content = body.get("content")
        if isinstance(content, str):
            self._say(content)
        elif isinstance(content, list):
            for part in content:
                self._take_part(part)
        elif isinstance(content, dict):
            self._take_part(content)
        refusal = body.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._refused = True
            self._say(refusal)
        if calls := body.get("tool_calls"):
            self._calls.add(calls)
        if legacy := body.get("function_call"):
            self._calls.add_legacy(legacy)

    def _take_part(self, part: JSON) -> None:
        if isinstance(part, str):
            self._say(part)
        elif isinstance(part, dict):
            if part.get("type") in ("thinking", "reasoning"):
                self._muse(_words(part.get("thinking", part.get("text"))))
            elif part.get("type") == "refusal":
                self._refused = True
                self._say(_words(part.get("refusal")))
            else:
                self._say(_words(part.get("text")))

    def _think(self, body: Mapping[str, JSON]) -> None:
        details = body.get("reasoning_details")
        if isinstance(details, list):
            for detail in details:
                if isinstance(detail, dict):
                    _add_detail(self._details, detail)
        for field in ("reasoning_content", "reasoning"):
            if text := _words(body.get(field)):
                self._field = self._field or field
                self._muse(text)
                return
        if isinstance(details, list):
            self._muse(_words([d for d in details if isinstance(d, dict) and d.get("type") != "reasoning.encrypted"]))

    def _say(self, text: str) -> None:
        if text:
            self._flush_thoughts()
            self._text.append(text)

    def _muse(self, text: str) -> None:
        if text:
            self._flush_text()
            self._thoughts.append(text)

    def _flush(self, *, final: bool = False) -> None:
        self._flush_text(final=final)
        self._flush_thoughts(final=final)

    def _flush_text(self, *, final: bool = False) -> None:
        if self._text or (final and self._text_half):
            text = self._text_half + "".join(self._text)
            self._text.clear()
            text, self._text_half = (text, "") if final else split_half(text)
            if text:
                self._said = True
                self._out.append(TextDelta(text=mend(text)))

    def _flush_thoughts(self, *, final: bool = False) -> None:
        if self._thoughts or (final and self._thought_half):
            text = self._thought_half + "".join(self._thoughts)
            self._thoughts.clear()
            text, self._thought_half = (text, "") if final else split_half(text)
            if text:
                self._out.append(ReasoningDelta(text=mend(text)))


def _error_in(holder: Mapping[str, JSON]) -> JSON:
    error = holder.get("error")
    if error:
        return error
    if holder.get("object") == "error" or (holder.get("type") == "error" and "choices" not in holder):
        return dict(holder)
    return None


def _words(value: JSON, depth: int = 4) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and depth:
        return _words(value.get("text") or value.get("content") or value.get("summary"), depth - 1)
    if isinstance(value, list) and depth:
        return "".join([_words(item, depth - 1) for item in value])
    return ""


class _Pieces(list[str]):
    """A text that grows: joined at the end, not with every piece."""


def _add_detail(details: list[dict[str, JSON]], piece: Mapping[str, JSON]) -> None:
    last = details[-1] if details else None
    same = last is not None and all(last.get(k) == piece.get(k) for k in ("type", "index"))
    if last is None or not same or piece.get("type") == "reasoning.encrypted":
        details.append(dict(piece))
        return
    for key, value in piece.items():
        before = last.get(key)
        if key in _SUMMARY and isinstance(before, _Pieces) and isinstance(value, str):
            before.append(value)
        elif key in _SUMMARY and isinstance(before, str) and isinstance(value, str):
            last[key] = _Pieces([before, value])
        elif value is not None:
            last[key] = value


def says(event: JSON) -> bool:
    """Whether an event brings a reply on; an empty piece of one is sent to keep a connection alive."""
    if not isinstance(event, dict):
        return True
    choices = event.get("choices") or []
    if any(value for key, value in event.items() if key in ("error", "usage")) or not isinstance(choices, list):
        return True
    said = [one if isinstance(one, dict) else {"delta": one} for one in choices]
    deltas = [one.get("delta") or one.get("message") or {} for one in said]
    return any(one.get("finish_reason") for one in said) or any(map(_fills, deltas))


def _fills(delta: JSON) -> bool:
    return not isinstance(delta, dict) or any(value for key, value in delta.items() if key != "role")
