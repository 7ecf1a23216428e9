"""How past messages are written down for a model: short lines, bounded as a whole."""

import json
import time
from collections.abc import Iterable, Sequence

from hermes_core.types import Blob, Message, Part, Reasoning, Session, Text, ToolCall, ToolResult

BUDGET = 12_000  # characters of one answer
_MORE = "… cut here: ask for less, or read on with session and around."


def day(instant: float) -> str:
    """A point in time on the person's clock, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(instant)) if instant > 0 else "unknown time"


def heading(session: Session) -> str:
    """One line that says which conversation this is."""
    return f"[{session.id}] {session.title or 'untitled'} · {day(session.created)} · {session.origin}"


def message_line(number: int, message: Message, *, width: int = 400, mark: bool = False) -> str:
    """One message on one line: ``#12 user: what was said``."""
    said = clip(" ".join(part for p in message.parts if (part := _said(p))), width)
    return f"{'>' if mark else ' '} #{number} {message.role}: {said or '(nothing)'}"


def whole(message: Message) -> str:
    """All that a message says, as it was written."""
    return "\n".join(text for part in message.parts if (text := _whole(part)))


def clip(text: str, width: int) -> str:
    """The text on one line, its middle left out where it is too long."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    tail = width // 4
    return f"{text[: width - tail]} … {text[-tail:]}"


def page(lines: Iterable[str]) -> str:
    """Lines joined, cut at a line's end where they are too many."""
    kept: list[str] = []
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > BUDGET:
            return "\n".join([*kept, _MORE])
        kept.append(line)
    return "\n".join(kept)


def dialogue(messages: Sequence[tuple[int, Message]], *, around: int = 0, width: int = 400) -> list[str]:
    """Messages as lines; system messages are left out."""
    return [
        message_line(number, message, width=width, mark=number == around)
        for number, message in messages
        if message.role != "system"
    ]


def _whole(part: Part) -> str:
    if isinstance(part, ToolResult):
        return "\n".join(p.text for p in part.parts if isinstance(p, Text))
    if isinstance(part, ToolCall):
        return f"→ {part.name}({json.dumps(dict(part.arguments), ensure_ascii=False, default=str)})"
    return _said(part)


def _said(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, ToolCall):
        return f"→ {part.name}({clip(json.dumps(dict(part.arguments), ensure_ascii=False, default=str), 160)})"
    if isinstance(part, ToolResult):
        text = " ".join(p.text for p in part.parts if isinstance(p, Text))
        return f"{part.name} {'failed' if part.failed else 'gave'}: {clip(text, 240)}"
    if isinstance(part, Blob):
        return f"[{part.media_type} {part.name}]".replace(" ]", "]")
    return "" if isinstance(part, Reasoning) else f"[{type(part).__name__}]"
