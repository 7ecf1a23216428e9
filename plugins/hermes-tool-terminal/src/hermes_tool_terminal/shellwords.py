"""Looking at a shell command without running it: what would stay in the background, and what runs last.

This is advice for the model, not a wall: whoever wants to hide a background process can.
"""

import re

from hermes_core.patterns import pattern

_HEREDOC = pattern(r"(?<!<)<<-?\s*(['\"]?)(\w+)\1")
_QUOTED = pattern(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$?\(\(.{0,500}?\)\)|(?<![^\s;|&(])#[^\n]*", re.DOTALL)
_AMPERSAND = pattern(r"(?<![&<>|;])&(?![&>])")
_DETACHER = pattern(r"(?:^\s*|(?:[;|&(\n]|\b(?:then|do|else|exec|sudo|env|time)\s)[^\S\n]*)(nohup|setsid|disown)\b")
_WAIT = pattern(r"(?:^\s*|[;&|\n(][^\S\n]*)wait\b")
_SEPARATOR = pattern(r"\|\|?|&&|[;\n]")
_ASSIGNMENT = pattern(r"^\w+=")
_PREFIXES = frozenset({"sudo", "time", "env", "command", "exec", "!", "then", "do", "else", "if", "while"})


def background_part(command: str) -> str:
    """What in the command would leave a process behind, or an empty string."""
    bare = _bare(command)
    detacher = _DETACHER.search(bare)
    if detacher:
        return detacher[1]
    last = None
    for last in _AMPERSAND.finditer(bare):  # noqa: B007 - only the last one matters
        pass
    return "&" if last and not _WAIT.search(bare, last.start()) else ""


def last_program(command: str) -> str:
    """The name of the program whose status is the command's status, as far as one can tell."""
    parts = [part for part in _SEPARATOR.split(_bare(command)) if part.strip()]
    words = parts[-1].split() if parts else []
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.match(words[0])):
        words.pop(0)
    name = words[0].strip("({})") if words else ""
    if name.startswith("python") and words[1:2] == ["-m"] and len(words) > 2:
        name = words[2]
    return name.rpartition("/")[2]


def _bare(command: str) -> str:
    """The command without what a shell does not read as syntax: quotes, comments, arithmetic, here-documents."""
    return _QUOTED.sub(lambda match: "" if match[0].startswith("#") else "_", _without_heredocs(command))


def _without_heredocs(command: str) -> str:
    kept: list[str] = []
    waiting: list[str] = []
    for line in command.split("\n"):
        if waiting:
            if line.strip() == waiting[0]:
                waiting.pop(0)
            continue
        waiting = [match[2] for match in _HEREDOC.finditer(line)]
        kept.append(_HEREDOC.sub("_", line))
    return "\n".join(kept)
