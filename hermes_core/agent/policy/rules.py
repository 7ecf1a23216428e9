"""Rules over calls: what a rule, a grant and a person see of a call, and which rule fits it."""

import fnmatch
import json
from collections.abc import Iterable, Sequence

from hermes_core.errors import nearest
from hermes_core.types import JSON, ToolCall

__all__ = ["allows", "escape", "idle", "matches", "subject_of", "words_of"]

_SHOWN = 1_000  # characters of an argument beside the subject


def subject_of(call: ToolCall) -> str:
    """Say what a person, a rule or a grant sees of a call: its first text argument, or all of them."""
    for key in ("command", "path", "url", "query"):
        if isinstance(value := call.arguments.get(key), str):
            return value
    return ", ".join(f"{k}={v}" for k, v in call.arguments.items())


def words_of(call: ToolCall, *, runs: bool = False) -> str:
    """Return a call as a person is asked about it: its subject, and below it everything else it was given, shortened.

    The command of one that ``runs`` it stands there as at a prompt.
    """
    shown = subject_of(call)
    rest = {k: v for k, v in call.arguments.items() if v != shown and v not in ("", None, [], {})}
    lines = [f"$ {shown}" if runs and call.arguments.get("command") == shown else f"{call.name}({shown})"]
    if any(value == shown for value in call.arguments.values()):
        lines += [f"{name}: {_shortened(value)}" for name, value in rest.items()]
    return "\n".join(lines)


def _shortened(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def matches(rule: str, subject: str) -> bool:
    """Tell whether a rule fits a call. Rules read ``tool`` or ``tool(pattern)``, with ``*`` and ``?`` in both."""
    name, _, pattern = rule.removesuffix(")").partition("(")
    tool, _, rest = subject.removesuffix(")").partition("(")
    return fnmatch.fnmatchcase(tool, name) and (not pattern or fnmatch.fnmatchcase(rest, pattern))


def allows(rule: str, subject: str, parts: Sequence[tuple[str, bool]]) -> bool:
    """Tell whether a rule allows a call. With ``*`` every part must match, and none may be for the letter only."""
    if not parts or rule == escape(subject) or "(" not in rule:
        return matches(rule, subject)
    return matches(rule, subject) and all(matches(rule, part) and not literal for part, literal in parts)


def escape(subject: str) -> str:
    """Return the rule that fits a call's subject and nothing else."""
    tool, _, rest = subject.removesuffix(")").partition("(")
    return f"{tool}({''.join(f'[{c}]' if c in '*?[' else c for c in rest)})"


def idle(rules: Iterable[str], tools: Iterable[str]) -> list[str]:
    """Say what is wrong with rules for a tool that nobody has. ``tools`` are names, or patterns of names to come."""
    found, known = [], sorted(tools)
    for rule in rules:
        name = rule.partition("(")[0]
        if not any(sign in name for sign in "*?[") and not any(fnmatch.fnmatchcase(name, tool) for tool in known):
            advice = f"did you mean {close}?" if (close := nearest(name, known)) else "`hermes tools list` shows them."
            found.append(f"The policy rule {rule!r} matches nothing: no installed plugin has a tool {name}; {advice}")
    return found
