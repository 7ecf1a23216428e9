"""Shell commands that say plainly what they run: words, quoted or bare, joined by ``&&``, ``||``, ``;``, ``|``.

Nothing else is plain. Variables, substitutions, redirections, globs, escapes, background jobs and shell keywords decide
while they run what runs; whoever remembers something about a command must be able to read all of it.
"""

import re

from hermes_core.values import frozen

__all__ = ["Single", "plain"]

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<op>&&|\|\||;|\||\n)"
    r"|(?P<single>'[^'\x00-\x1f\x7f]*')|(?P<double>\"[^\"$`\\\x00-\x1f\x7f]*\")|(?P<bare>[A-Za-z0-9_@%+=:,./-]+)"
)
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function"}
    | {"select", "time", "coproc"}
)
_LONGEST = 20_000  # characters


@frozen
class Single:
    """One command of a line: its words, what joins it to the one before, and what joins the next one to it."""

    words: tuple[str, ...]
    before: str = ""
    after: str = ""


def plain(command: str) -> list[Single] | None:
    """The single commands of a line, or None when it is not plain."""
    command = command.strip()
    if not command or len(command) > _LONGEST:
        return None
    found: list[Single] = []
    words: list[str] = []
    word: str | None = None
    before, at = "", 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            return None
        at = match.end()
        if match["space"] or match["op"]:
            words, word = (words, None) if word is None else ([*words, word], None)
        if operator := match["op"]:
            if not words:
                return None
            found.append(Single(tuple(words), before, operator))
            words, before = [], operator
        elif not match["space"]:
            word = (word or "") + (match["bare"] or match[0][1:-1])
    if word is not None:
        words.append(word)
    if not words:
        return None
    found.append(Single(tuple(words), before))
    return found if all(map(_sound, found)) else None


def _sound(single: Single) -> bool:
    first = single.words[0]
    return bool(first) and "=" not in first and first not in _KEYWORDS
