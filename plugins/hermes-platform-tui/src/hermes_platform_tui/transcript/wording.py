"""How calls, files, times and usage read in few words."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePath

from hermes_core.types import JSON, Blob, Question, ToolCall, Usage, Verdict
from hermes_platform_tui.markdown.clean import clean

__all__ = [
    "asked_line",
    "blob_line",
    "day_line",
    "detail_of",
    "duration",
    "long_duration",
    "one_line",
    "stamp",
    "usage_line",
]

_LONGEST = 400

# The argument that tells most about a call, best first; none of them belongs to a certain tool.
_TELLING = ("command", "code", "path", "file_path", "url", "query", "pattern", "question", "goal", "text", "name")


def one_line(text: str, most: int = _LONGEST) -> str:
    """A text on one line, safe to show."""
    lines = (line.strip() for line in clean(text[: most * 4]).strip().splitlines())
    return " ↵ ".join(" ".join(line.split()) for line in lines if line)[:most]


def detail_of(call: ToolCall, most: int = _LONGEST) -> str:
    """What a call is about, on one line."""
    if call.invalid:
        return one_line(f"unreadable arguments: {call.invalid}", most)
    arguments = call.arguments
    if not isinstance(arguments, Mapping) or not arguments:
        return ""
    for key, say in _SPECIAL.items():
        if key in arguments and (said := say(arguments)):
            return one_line(said, most)
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, most)
    return one_line(", ".join(f"{key}={_value(value)}" for key, value in list(arguments.items())[:8]), most)


def _value(value: JSON) -> str:
    if isinstance(value, str):
        return value[:_LONGEST]
    return json.dumps(value, ensure_ascii=False, default=str)[:_LONGEST]


def _pattern(arguments: Mapping[str, JSON]) -> str:
    pattern, where = arguments["pattern"], arguments.get("path") or arguments.get("glob")
    if not isinstance(pattern, str) or not pattern.strip():
        return ""
    return f"{pattern} in {where}" if isinstance(where, str) and where not in {"", "."} else pattern


def _path(arguments: Mapping[str, JSON]) -> str:
    path, first, count = arguments["path"], arguments.get("offset"), arguments.get("limit")
    if not isinstance(path, str) or "command" in arguments:
        return ""
    if not isinstance(first, int) or first <= 1:
        return path
    return f"{path}:{first}-{first + count - 1}" if isinstance(count, int) else f"{path}:{first}"


def _todos(arguments: Mapping[str, JSON]) -> str:
    todos = arguments["todos"]
    return f"{len(todos)} item{'' if len(todos) == 1 else 's'}" if isinstance(todos, list) else ""


def _tasks(arguments: Mapping[str, JSON]) -> str:
    tasks = arguments["tasks"]
    if not isinstance(tasks, list) or not tasks:
        return ""
    goals = [str(task.get("goal", "")) if isinstance(task, Mapping) else str(task) for task in tasks]
    return f"{len(tasks)} tasks: " + "; ".join(goals) if len(tasks) > 1 else goals[0]


_SPECIAL: dict[str, Callable[[Mapping[str, JSON]], str]] = {
    "todos": _todos,
    "tasks": _tasks,
    "pattern": _pattern,
    "path": _path,
}


def duration(seconds: float) -> str:
    """Seconds as a person says them: 0.2s, 14s, 3m05s, 2h10m."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def long_duration(seconds: float) -> str:
    """The same inside a sentence: 3 s, 2 min 5 s."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def usage_line(usage: Usage, seconds: float | None) -> str:
    """Tokens, money if known, and time of a turn. An estimated sum has a ``~``."""
    parts = []
    if usage.input or usage.output:
        parts += [f"{_tokens(usage.input)} in", f"{_tokens(usage.output)} out"]
    if usage.cost:
        sum_ = f"${usage.cost:.4f}" if usage.cost < 0.1 else f"${usage.cost:.2f}"
        parts.append(sum_ if usage.priced == "actual" else f"~{sum_}")
    if seconds is not None:
        parts.append(duration(seconds))
    return " · ".join(parts)


def _tokens(count: int) -> str:
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def blob_line(blob: Blob) -> str:
    """A file or picture as a word in brackets: ``[image: shot.png, 120 KB]``."""
    kind = clean(blob.media_type).partition("/")[0] or "file"
    kind = "file" if kind in {"application", "text"} else kind
    name = one_line(blob.name or (PurePath(blob.path).name if blob.path else ""), 120)
    size = _size(len(blob.data)) if blob.data is not None else ""
    told = ", ".join(part for part in (name, size) if part)
    return f"[{one_line(kind, 40)}: {told}]" if told else f"[{one_line(kind, 40)}]"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def asked_line(question: Question, verdict: Verdict) -> str:
    """A question and what came back; the first line of it is the short form."""
    if question.kind == "approval":
        words = {"allow": "allowed", "deny": "refused", "ask": "open"}
        answer = words.get(verdict.outcome, verdict.outcome)
        if verdict.outcome == "allow" and verdict.choice and verdict.choice != "allow":
            answer += f" ({verdict.choice})"
    else:
        answer = verdict.choice or verdict.outcome
    if verdict.by:
        answer += f", by {verdict.by}"
    if verdict.reason:
        answer += f": {verdict.reason}"
    first, _, rest = clean(question.subject).strip().partition("\n")
    return f"{first} → {one_line(answer, 1_000)}" + (f"\n{rest}" if rest else "")


def stamp(at: datetime) -> str:
    """The time of day."""
    return f"{at:%H:%M}"


def day_line(at: datetime) -> str:
    """The day, in full."""
    return f"{at:%A} {at.day} {at:%B %Y}"
