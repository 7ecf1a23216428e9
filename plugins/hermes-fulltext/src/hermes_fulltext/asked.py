"""What a person asks for: terms that a message may hold, what it must hold, and when it was said."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from hermes_fulltext.dates import Named, named_time
from hermes_fulltext.english import FUNCTION_WORDS
from hermes_fulltext.forms import forms_of
from hermes_fulltext.words import CJK, LONGEST_QUERY, OWNER, pairs

__all__ = ["Asked", "Term", "asked"]

_MOST = 20  # terms that are looked for, those that say most first
_WHEN = """
last this past previous week weeks weekend month months year years ago day days today yesterday night tonight morning
afternoon evening earlier before about in on the of during over back couple few
one two three four five six
"""
_TIMES = frozenset(_WHEN.split())
# What Korean, Japanese and Chinese ask with: it stands in questions and says nothing of what is looked for.
_ASKING = re.compile(
    "何ですか|でしょうか|ですか|でしたか|ましたか|ますか|いつ|どこ|だれ|どう|どの|どれ|どんな|なぜ|いくら|いくつ|教えて|ください|でしたっけ|"
    "でした|ました|ます|です|という|について|って|"
    "什么时候|什么|怎么样|怎么|哪里|哪儿|哪个|哪天|多少|几点|为什么|告诉|请问|说过|我们|咱们|一下"
)
_FAINT = frozenset("的了是在吗呢啊吧我你他她们谁哪请说何誰のはがをにでとへもやかよね")
_LITTLE = "\u3040-\u309f" + "".join(sorted(_FAINT))  # kana, and signs that say little
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_KOREAN_ASKING = re.compile(
    "(?:무엇|무슨|뭐라고|뭐라|뭐|뭘|언제|어디서|어디|어느|누구|누가|어떻게|어떤|왜|얼마나|얼마|몇|우리가|우리|내가|제가|나의|그때|지난번|저번|전에|말한|말했던|"
    "얘기한|알려|알려줘|주세요|했던|것|거)(?:은|는|이|가|을|를|에|의|로|도|요|야|지|였지|였더라|더라|예요|이에요|인가요|인지)*"
)
_KOREAN_ENDING = re.compile(
    "(?:인가요|인가|일까요|일까|이었나요|였나요|했나요|하나요|었나요|나요|습니까|입니까|이었지|였지|했지|었지|하지|이지|이었어|였어|했어|했더라|였더라|더라|이야|예요|이에요|해|야)$"
)
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_KANA = re.compile("[\u3040-\u309f]+")
_KATAKANA = re.compile("[\u30a0-\u30ff]+")
_SCRIPTS = re.compile("[\u3040-\u309f]+|[\u30a0-\u30ff]+|[^\u3040-\u30ff]+")
_ALONE = re.compile(f"(?<![^{_LITTLE}])[^{_LITTLE}](?![^{_LITTLE}])")
_PIECES = re.compile(f"[{CJK}]+|[^{CJK}]+")
_EDGES = re.compile(r"^\W+|\W+$")
_WORDS = re.compile(r"[^\W_]+")
# What stands behind a Korean noun: it is cut off where two syllables or more are left.
_PARTICLES = re.compile(
    "(?:에서는|에서|에게서|에게|한테서|한테|으로는|으로|까지|부터|이랑|랑|처럼|보다|마다|밖에|이나|이라고|라고|이라는|라는|은|는|이|가|을|를|에|의|로|와|과|도|만|요)$"
)


class Term(NamedTuple):
    """One thing that a message may hold: any of ``phrases``, as the index has them; ``shown`` are they in a text."""

    phrases: tuple[str, ...]
    shown: tuple[str, ...]
    weight: float = 1.0
    must: bool = False


class Asked(NamedTuple):
    """What is looked for; ``time`` is when it was said, if that was named.

    ``row`` are two words or more as they stand in a row in the question, without what only asks at its ends.
    """

    terms: tuple[Term, ...]
    time: Named | None = None
    row: str = ""


def asked(words: str, now: float) -> Asked:
    """Return what a person's words ask for. Nothing of them is syntax but quotes, which make a phrase."""
    words = unicodedata.normalize("NFKC", words[:LONGEST_QUERY]).replace(OWNER, " ")
    must = [term for text in re.findall(r'"([^"]*)"', words) if (term := _phrase(text))]
    rest = re.sub(r'"[^"]*"|"', " ", words).replace("\u2019", "'")
    time = named_time(rest, now)
    terms, aside = list[Term](), list[Term]()
    if time:
        before, after = rest.split(time.words, 1)
        rest = f"{before} {after}"
        kept = " ".join(
            word
            for word in time.words.split()
            if word.casefold() not in _TIMES and not (word.isdecimal() and len(word) < 3)
        )
        terms += [term._replace(weight=term.weight * 0.4) for term, _ in _terms(kept)]
    for term, says in _terms(rest):
        (terms if says else aside).append(term)
    if not must and not terms:
        terms = [] if time else aside
    return Asked((*must, *_chosen(terms)), time, _row(rest))


def _row(text: str) -> str:
    words = [folded for word in text.split() if (folded := _EDGES.sub("", word).casefold())]
    telling = [at for at, word in enumerate(words) if word not in FUNCTION_WORDS]
    return " ".join(words[telling[0] : telling[-1] + 1]) if len(telling) > 1 else ""


def _chosen(terms: list[Term]) -> list[Term]:
    """Return each term once; of too many those that are likely to say most."""
    seen, kept = set[str](), list[Term]()
    for term in terms:
        if term.phrases[0] not in seen:
            seen.update(term.phrases)
            kept.append(term)
    if len(kept) > _MOST:
        best = sorted(kept, key=lambda term: (term.weight, len(term.phrases[0])), reverse=True)[:_MOST]
        kept = [term for term in kept if term in best]
    return kept


def _terms(text: str) -> Iterator[tuple[Term, bool]]:
    """Yield the terms of a text, each with whether it says something of what is looked for."""
    for word in text.split():
        for piece in _PIECES.findall(word):
            if re.match(f"[{CJK}]", piece):
                yield from _unspaced(piece)
            elif piece.isascii():
                yield from _spaced(_EDGES.sub("", piece))
            elif any(character.isalnum() for character in piece):
                # An index may cut words elsewhere than Python does: of rare signs it has to be asked for all.
                first, *more = list(_spaced(_EDGES.sub("", piece))) or [(Term((), (piece,)), True)]
                yield first[0]._replace(phrases=(*first[0].phrases, piece)), first[1]
                yield from more


def _phrase(text: str) -> Term | None:
    parts = [pairs(piece) if re.match(f"[{CJK}]", piece) else piece for piece in _PIECES.findall(text)]
    if not any(character.isalnum() for character in text):
        return None
    return Term((" ".join(parts),), (text.strip(),), must=True)


def _spaced(word: str) -> Iterator[tuple[Term, bool]]:
    folded = word.casefold()
    if folded in FUNCTION_WORDS:
        yield Term((word,), (word,)), False
        return
    plain = re.sub(r"'s?$", "", folded)
    if plain.isalnum():
        forms = forms_of(plain)
        yield Term(forms, forms, 1.0 if len(plain) > 1 else 0.3), True
        return
    if not (parts := _WORDS.findall(plain)):
        return
    phrases = (word, "".join(parts)) if len(parts) == 2 else (word,)
    yield Term(phrases, phrases), True
    if len(parts) > 1 and all(len(part) > 2 and part.isalpha() for part in parts):
        for part in parts:
            if part not in FUNCTION_WORDS:
                yield Term(forms := forms_of(part), forms, 0.4), True


def _unspaced(run: str) -> Iterator[tuple[Term, bool]]:
    """Yield the pairs of a run of Korean, Japanese or Chinese; what asks, and endings, say little."""
    if _HANGUL.fullmatch(run):
        yield from _korean(run)
        return
    if len(run) == 1:
        yield Term((run,), (run,)), run not in _FAINT
        return
    said = [part for part in _ASKING.split(run) if part]
    if not said:
        yield Term((pairs(run),), (run,)), False
    for part in said:
        for alone in _ALONE.findall(part):  # a word of one sign between kana, or between signs that say little
            yield Term((alone,), (alone,), 0.6), alone not in _FAINT
        for pair, weight in _weighed(part):
            yield Term((pair,), (pair,), weight), True


def _weighed(part: str) -> Iterator[tuple[str, float]]:
    """Yield the pairs of signs, each with what it says: a word of many has many pairs, and says no more by that."""
    at = 0
    for word in _SCRIPTS.findall(part):
        inside = len(word) - 1
        if _KANA.match(word):
            weight = 0.1
        else:
            weight = 1.0 if inside < 2 else 0.7 if inside > 3 and not _KATAKANA.match(word) else 1.4 / inside
        for place in range(at, at + inside):
            faint = sum(character in _FAINT for character in part[place : place + 2])
            yield part[place : place + 2], weight * (1.0, 0.25, 0.1)[faint]
        at += len(word)
        if at < len(part):
            yield part[at - 1 : at + 1], 0.2


def _korean(word: str) -> Iterator[tuple[Term, bool]]:
    """Yield the pairs of a Korean word without its particle, the first one above all; a question's words say little."""
    if _KOREAN_ASKING.fullmatch(word):
        yield Term((pairs(word),), (word,)), False
        return
    stem = word if len(word) < 3 else _KOREAN_ENDING.sub("", word) or word
    if _KOREAN_ASKING.fullmatch(stem):
        yield Term((pairs(word),), (word,)), False
        return
    whole, stem = stem, _PARTICLES.sub("", stem) or stem
    if len(stem) == 1:  # a word of one syllable with a particle, or one of two that ends as a particle does: 가을, 회의
        yield Term((pairs(whole),), (whole,)), True
        yield Term((stem,), (stem,), 0.3), stem != whole or len(word) == 1
        return
    for at in range(len(stem) - 1):
        pair = stem[at : at + 2]
        yield Term((pair,), (pair,), 0.5 if at else 1.0), True
