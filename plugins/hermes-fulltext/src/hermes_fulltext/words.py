"""The words of a text for a search index, and a person's words as a query of it. Both go through one function.

unicode61 splits words at spaces, which Chinese, Japanese and Korean do not offer. Their runs are written as
overlapping pairs of characters, in order, so that any part of two or more characters is found as a phrase; single
characters follow at the end. The owner is a word too, marked with a private character that no text can bring in: so
what a search costs does not depend on how many rows belong to others.
"""

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["LONGEST_QUERY", "cut_words", "index_words", "phrases_of", "quoted", "snippet"]

LONGEST_QUERY = 2048
_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\U00020000-\U0003ffff"
)
# Compiled when first used: most starts search nothing.
_RUN = f"[{_CJK}]+"
_PIECE = f"[{_CJK}]+|[^{_CJK}]+"
_WANTED = r'"([^"]*)"|([^\s"]+)'
_OWNER = "\ue000"
_BEFORE, _AFTER, _FOLDED = 60, 160, 4000
_LONGEST_WORD = 500  # characters; an index page of PostgreSQL takes 2,700 bytes


def index_words(text: str, owner: int) -> str:
    """Return a text as the index gets it. Always of the stored one: removal must repeat what was added."""
    if text.isascii():
        return f"{_OWNER}{owner} {text}"
    text = unicodedata.normalize("NFKC", text).replace(_OWNER, " ")
    single = dict.fromkeys("".join(re.findall(_RUN, text)))
    return " ".join([f"{_OWNER}{owner}", re.sub(_RUN, lambda run: f" {_pairs(run[0])} ", text), *single])


def _pairs(run: str) -> str:
    return " ".join(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else run


def _pieces(words: str) -> list[str]:
    """Return what is asked for: quoted phrases and words, cut where the writing system changes."""
    words = unicodedata.normalize("NFKC", words[:LONGEST_QUERY]).replace(_OWNER, " ")
    wanted = [quoted or word for quoted, word in re.findall(_WANTED, words)]
    pieces = [piece for text in wanted for piece in re.findall(_PIECE, text)]
    return list(dict.fromkeys(piece for piece in pieces if any(c.isalnum() for c in piece)))


def phrases_of(words: str, owner: int | None, *, cut: bool = False) -> list[str]:
    """Return the phrases that a message must hold; none when it has no word. ``owner`` None means there is only one.

    They are ``cut`` for an index that does not cut and fold words itself.
    """
    asked = [_pairs(piece) if re.match(_RUN, piece) else piece for piece in _pieces(words)]
    asked = [*asked, f"{_OWNER}{owner}"] if asked and owner is not None else asked
    return [text for text in map(cut_words, asked) if text.strip()] if cut else asked


def quoted(phrases: Sequence[str]) -> str:
    """Return a query of FTS5. Everything a person wrote is quoted, so no character of theirs is syntax."""
    return " ".join(f'"{text}"' for text in phrases)


def cut_words(words: str) -> str:
    """Return what an index gets that cuts at spaces: cut and folded as FTS5 does, with a space around each word."""
    return f" {' '.join(_cut(words))} "


def _cut(words: str) -> list[str]:
    """Return the words as unicode61 has them: no accents, no capitals; very long ones by their start."""
    if not words.isascii():
        words = re.sub(f"[^\x00-\x7f{_CJK}]+", lambda run: _folded(run[0])[0], words)
    return [word[:_LONGEST_WORD] for word in re.findall(rf"(?:[^\W_]|{_OWNER})+", words.lower())]


def snippet(text: str, words: str) -> str:
    """Return the text around the first word that was found, with every word marked as ``>>>word<<<``."""
    pieces = _pieces(words)
    spans = [match.span() for match in _pattern(pieces).finditer(text)]
    if not spans and not (text + words).isascii():
        folded, origin = _folded(text[:_FOLDED])
        found = _pattern([_folded(piece)[0] for piece in pieces]).finditer(folded)
        spans = [(origin[match.start()], origin[match.end() - 1] + 1) for match in found if match.group()]
    start = max(0, spans[0][0] - _BEFORE) if spans else 0
    end = min(len(text), start + _BEFORE + _AFTER)
    shown, at = "…" if start else "", start
    for first, last in spans:
        if last > end:
            break
        if first >= at:
            shown += f"{text[at:first]}>>>{text[first:last]}<<<"
            at = last
    return " ".join((shown + text[at:end] + ("…" if end < len(text) else "")).split())


def _pattern(pieces: list[str]) -> re.Pattern[str]:
    alternatives = []
    for piece in sorted(pieces, key=len, reverse=True):
        if re.match(_RUN, piece):
            alternatives.append(re.escape(piece))
        elif inner := [re.escape(word) for word in re.split(r"[\W_]+", piece) if word]:
            alternatives.append(r"(?<![^\W_])" + r"[\W_]+".join(inner) + r"(?![^\W_])")
    return re.compile("|".join(alternatives) or "(?!)", re.IGNORECASE)


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the text as unicode61 compares it, and for each of its characters where it came from."""
    folded, origin = [], []
    for at, character in enumerate(text):
        for piece in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(piece):
                folded.append(piece)
                origin.append(at)
    return "".join(folded), origin
