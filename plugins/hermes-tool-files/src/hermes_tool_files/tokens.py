"""Lines as tokens: what may differ between what a model remembers and what a file holds, and what may not.

Spaces between tokens may differ, and so may characters that only look different (curly quotes, long dashes, the
non-breaking space). Words, numbers, operators and whole string literals may not.
"""

import unicodedata

from hermes_core.patterns import pattern
from hermes_core.values import frozen

_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    }
)
# A literal with its prefix is one token, so the spaces inside it count. A run of operator characters is one token too:
# "a --b" is not "a - -b". Brackets, commas and semicolons stand alone.
_TOKEN = pattern(
    r"""(?:\b[A-Za-z]{1,2})?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|\d[\w.]*|\w+|[-+*/%=<>!&|^~?:.@\#$\\]+|\S"""
)


@frozen
class Token:
    """A token and where it stands in its line."""

    text: str
    start: int
    end: int


def plain(line: str) -> str:
    """The line with look-alikes replaced, character for character."""
    return line.translate(_LOOKALIKES)


def same_shape(one: str, other: str) -> bool:
    """Whether two lines differ at most in look-alikes and in the kind of space, character for character."""
    return plain(one).replace("\t", " ") == plain(other).replace("\t", " ")


def tokens(line: str) -> tuple[Token, ...]:
    """The tokens of a line."""
    return tuple(Token(match[0], match.start(), match.end()) for match in _TOKEN.finditer(plain(line)))


def spelled(line: str) -> tuple[str, ...]:
    """The tokens of a line without their places; two lines that give the same differ in nothing that counts."""
    return tuple(token.text for token in tokens(unicodedata.normalize("NFC", line)))


def has_word(line: str) -> bool:
    """Whether there is anything in the line by which a place can be recognized."""
    return any(character.isalnum() for character in line)


def indent_of(line: str) -> str:
    """The white space a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]
