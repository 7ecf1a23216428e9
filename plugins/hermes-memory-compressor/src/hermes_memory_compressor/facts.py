"""What must not be lost between two summaries: found in texts, and looked for in what takes their place.

A model that rewrites its own note loses a little each time. So what a note left out is not asked for again but kept as
it was written, a line each, and goes on from one compaction to the next without being rewritten.
"""

import re
from collections.abc import Iterable, Sequence

from hermes_memory_compressor import tokens

__all__ = ["fitting", "kept_lines", "marks", "sentences"]

LONGEST = 300  # characters of one line
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"[^\s,;()\[\]{}\"'`<>|=*“”]+")
_NAMELESS = re.compile(r"(?:[#>\-*•]|\d{1,3}[.)])\s+")  # what begins a line of a list
_QUESTIONS = ("?", "\uff1f", "\u061f", "\u037e")  # Latin, full width, Arabic, Greek


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences and lines, without what only begins a line of a list."""
    found = (_NAMELESS.sub("", " ".join(piece.split()), count=1) for piece in _SENTENCE.split(text))
    return [piece for piece in found if piece and not piece.startswith("#")]


def marks(sentence: str) -> set[str]:
    """Find the names, numbers, files and addresses in a sentence, folded."""
    found = set()
    for at, word in enumerate(_WORD.findall(sentence)):
        bare = word.strip(".:!?-…/")
        if len(bare) > 1 and (_is_code(bare) or (at and bare[0].isupper())):
            found.add(bare.casefold())
    return found


def _is_code(word: str) -> bool:
    """Whether a word is a number, a path, a file, an address or an identifier."""
    inner = word[1:]
    return (
        any(c.isdigit() for c in word)
        or any(c in word for c in "_/@\\")
        or (word.isascii() and word.isupper())
        or (inner != inner.lower() and not word.isupper())
        or bool(re.search(r"\w\.\w", word))
    )


def kept_lines(lines: Iterable[str], there: Sequence[str]) -> list[str]:
    """Return the lines of which something is in none of the texts that are ``there``: a mark, or an open question."""
    words = {word.strip(".:!?-…/").casefold() for text in there for word in _WORD.findall(text)}
    left: dict[str, None] = {}
    for line in lines:
        if marks(line) - words or (line.endswith(_QUESTIONS) and not _is_asked(line, words)):
            left[line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"] = None
    return list(left)


def _is_asked(question: str, words: set[str]) -> bool:
    asked = {word.strip(".:!?-…/").casefold() for word in _WORD.findall(question)}
    return len(asked - words) * 2 < len(asked)


def fitting(lines: Sequence[str], room: int, *, longest: int = 0) -> list[str]:
    """Return the newest lines, oldest first, as many as ``room`` tokens hold; of long ones, ``longest`` characters."""
    taken: list[str] = []
    for whole in reversed(lines):
        cut = longest and len(whole) > longest
        line = f"{whole[: longest * 2 // 3]} … {whole[-longest // 3 :]}" if cut else whole
        room -= tokens.of_text(line) + 2
        if room < 0:
            break
        taken.append(line)
    return taken[::-1]
