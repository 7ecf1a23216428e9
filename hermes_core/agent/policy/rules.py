"""Rules over calls: what a rule, a grant and a person see of a call, and which rule fits it."""

import fnmatch
import re
from collections.abc import Sequence
from pathlib import Path

from hermes_core.agent.policy.hardblocks import pieces, program_words
from hermes_core.kinds import Tool
from hermes_core.types import Effect, ToolCall

__all__ = ["allows", "escape", "matches", "parts_of", "subject_of"]


def subject_of(call: ToolCall) -> str:
    """What a person, a rule or a grant sees of a call: its first text argument, or all of them."""
    for key in ("command", "path", "url", "query"):
        if isinstance(value := call.arguments.get(key), str):
            return value
    return ", ".join(f"{k}={v}" for k, v in call.arguments.items())


def matches(rule: str, subject: str) -> bool:
    """Rules read ``tool`` or ``tool(pattern)``, with ``*`` and ``?`` in both."""
    name, _, pattern = rule.rstrip(")").partition("(")
    tool, _, rest = subject.removesuffix(")").partition("(")
    return fnmatch.fnmatchcase(tool, name) and (not pattern or fnmatch.fnmatchcase(rest, pattern))


def parts_of(tool: Tool, text: str) -> list[str]:
    """The single commands of a shell command as rules see them: ``terminal(git push origin)``, however it was spelled.

    Wrappers, paths of programs and needless spaces are gone, and what hides in ``$(…)`` and ``sh -c`` stands by itself.
    """
    if Effect.EXECUTE not in tool.effects:
        return []
    commands = (program_words(piece) for piece in pieces(text))
    return [f"{tool.name}({' '.join([Path(w[0]).name, *w[1:]])})" for w in commands if w]


def allows(rule: str, subject: str, parts: Sequence[str]) -> bool:
    """Whether a rule allows a call. With ``*`` every single command must match, and nothing may be redirected."""
    if not parts or rule == escape(subject) or "(" not in rule:
        return matches(rule, subject)
    plain = not re.search(r"[<>`\n]|\$\(", subject)
    return plain and matches(rule, subject) and all(matches(rule, part) for part in parts)


def escape(subject: str) -> str:
    """The rule that fits a call's subject and nothing else."""
    tool, _, rest = subject.removesuffix(")").partition("(")
    return f"{tool}({''.join(f'[{c}]' if c in '*?[' else c for c in rest)})"
