"""Text that was escaped once too often, as models do inside JSON: ``\\"`` for a quote, ``\\n`` for a line end."""

import re
from collections.abc import Iterator

from hermes_core.patterns import pattern

_ESCAPE = pattern(r"\\([nt\"'])")
_MEANING = {"n": "\n", "t": "\t", '"': '"', "'": "'"}


def unescaped(text: str, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Places where ``old`` with its escapes undone stands exactly, each with ``new`` undone the same way.

    Nothing when undoing would be a guess: other backslashes, or an escape inside a string of the new text, where it
    may well be meant.
    """
    kinds = set(_ESCAPE.findall(old))
    undone = _undo(old)
    if not kinds or "\\" in undone or not re.search(r"\w", undone):
        return
    if "\\" in _undo(new) or set(_ESCAPE.findall(new)) - kinds:
        return
    fresh = _undo(new)
    if kinds & {"n", "t"} and any(line.count('"') % 2 or line.count("'") % 2 for line in fresh.split("\n")):
        return
    at = text.find(undone)
    while at >= 0:
        yield at, at + len(undone), fresh
        at = text.find(undone, at + 1)


def _undo(text: str) -> str:
    return _ESCAPE.sub(lambda match: _MEANING[match[1]], text)
