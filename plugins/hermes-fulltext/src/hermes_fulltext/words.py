"""The words of a text for a search index, and a person's words as a query of it. Both go through one function.

unicode61 splits words at spaces, which Chinese, Japanese and Korean do not offer. Their runs are written as
overlapping pairs of characters, in order, so that any part of two or more characters is found as a phrase; single
characters follow at the end. The owner is a word too, marked with a private character that no text can bring in: so
what a search costs does not depend on how many rows belong to others.
"""

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["CJK", "LONGEST_QUERY", "OWNER", "cut_words", "folded", "index_words", "pairs", "quoted"]

LONGEST_QUERY = 2048
CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\U00020000-\U0003ffff"
)
# Compiled when first used: most starts search nothing.
_RUN = f"[{CJK}]+"
OWNER = "\ue000"
_LONGEST_WORD = 500  # characters; an index page of PostgreSQL takes 2,700 bytes


def index_words(text: str, owner: int) -> str:
    """Return a text as the index gets it. Always of the stored one: removal must repeat what was added."""
    if text.isascii():
        return f"{OWNER}{owner} {text}"
    text = unicodedata.normalize("NFKC", text).replace(OWNER, " ")
    single = dict.fromkeys("".join(re.findall(_RUN, text)))
    return " ".join([f"{OWNER}{owner}", re.sub(_RUN, lambda run: f" {pairs(run[0])} ", text), *single])


def pairs(run: str) -> str:
    """Return a run of characters as an index has it that must find parts of it."""
    return " ".join(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else run


def quoted(groups: Sequence[Sequence[str]]) -> str:
    """Return a query of FTS5 for what holds a phrase of each group. All is quoted: nothing a person wrote is syntax."""
    either = (" OR ".join(f'"{phrase}"' for phrase in phrases) for phrases in groups)
    return " AND ".join(f"({phrases})" for phrases in either)


def cut_words(words: str) -> str:
    """Return what an index gets that cuts at spaces: cut and folded as FTS5 does, with a space around each word."""
    return f" {' '.join(_cut(words))} "


def _cut(words: str) -> list[str]:
    """Return the words as unicode61 has them: no accents, no capitals; very long ones by their start."""
    if not words.isascii():
        words = re.sub(f"[^\x00-\x7f{CJK}]+", lambda run: folded(run[0]), words)
    return [word[:_LONGEST_WORD] for word in re.findall(rf"(?:[^\W_]|{OWNER})+", words.lower())]


def folded(word: str) -> str:
    """Return a word as an index compares it: no accents, no capitals, no other widths."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFC", "".join(one for one in plain if not unicodedata.combining(one)))
