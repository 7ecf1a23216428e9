"""How calls, results, failures and usage read in one line."""

import json
from collections.abc import Iterable, Mapping, Sequence

from hermes_core.types import JSON, Blob, Message, Part, Text, ToolCall, Usage
from hermes_platform_kit.clean import clean, exact

__all__ = ["call_detail", "duration", "shown_text", "text_of", "usage_line"]

# The argument that tells most about a call, best first; none of them belongs to a certain tool.
_TELLING = ("command", "code", "path", "file_path", "url", "query", "pattern", "question", "goal", "text", "name")


def call_detail(call: ToolCall) -> str:
    """The one argument that says what a call is about, on one line, with nothing invisible in it."""
    if call.invalid:
        return "unreadable arguments"
    chosen = _choose(call.arguments)
    return exact(" ↵ ".join(line.strip() for line in chosen.strip().splitlines() if line.strip())[:400])


def _choose(arguments: Mapping[str, JSON]) -> str:
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
    if not arguments:
        return ""
    texts = [value for value in arguments.values() if isinstance(value, str) and value.strip()]
    return texts[0] if texts else json.dumps(dict(arguments), ensure_ascii=False, default=str)[:400]


def duration(seconds: float) -> str:
    """Seconds as a person says them: 0.2s, 14s, 3m05s, 2h10m."""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def usage_line(usage: Usage, seconds: float) -> str:
    """Tokens, money if known, and time of a turn."""
    parts = []
    if usage.input or usage.output:
        parts += [f"{_tokens(usage.input)} in", f"{_tokens(usage.output)} out"]
    if usage.cost:
        parts.append(f"${usage.cost:.4f}" if usage.cost < 0.1 else f"${usage.cost:.2f}")
    parts.append(duration(seconds))
    return " · ".join(parts)


def _tokens(count: int) -> str:
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def text_of(parts: Sequence[Part]) -> str:
    """The text of a message or result; files and pictures as a word in brackets. Not yet cleaned."""
    return "\n".join(_pieces(parts))


def _pieces(parts: Sequence[Part]) -> Iterable[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, Blob):
            yield f"[{part.media_type}: {part.name or part.path or 'unnamed'}]"


def shown_text(message: Message) -> str:
    """A whole message, safe to show."""
    return clean(text_of(message.parts)).rstrip()
