"""Comparing sentences by the words that carry meaning, in any script."""

import re

_STOP_WORDS = """
a an the my mine your our his her its their i you he she it we they me us him them is am are was were be been
being do does did done have has had what who whom whose where when which why how much many of in on at to for
from by with about and or but not that this these those there here so still remember know tell told say said
called name named please can could would will should shall may might ever again also just any some as if than
then up out s t re ve ll d m mein meine meinen meiner ich du wie was wer wo ist sind heißt heisst der die das
ein eine mi mis cómo qué cuál llama es el la los las mon ma mes comment est le les s'appelle appelle quel quelle
내 나의 제 우리 뭐야 뭐지 뭐니 무엇 무엇이야 뭔가요 뭐예요
"""
_STOP = frozenset(_STOP_WORDS.split())
_SOFT = frozenset({"called", "name", "named"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def content_words(text: str) -> list[str]:
    """The words of a text that say what it is about; all of its words when nothing else is left."""
    words = [re.sub(r"['’]s?$|['’]", "", word) for word in _WORD.findall(text.casefold())]
    kept = list(dict.fromkeys(word for word in words if word and word not in _STOP))
    return kept or [word for word in dict.fromkeys(words) if word in _SOFT]


def likeness(question: str, text: str) -> float:
    """How many of a question's words a text holds, from 0 to 1."""
    wanted = [part for word in content_words(question) for part in _parts(word)]
    if not wanted:
        return 0.0
    plain = text.casefold()
    return sum(_holds(plain, word) for word in wanted) / len(wanted)


def _parts(word: str) -> list[str]:
    """A word; a run of Chinese or Japanese as its pairs of characters."""
    if len(word) > 2 and _HAN.search(word):
        return [word[i : i + 2] for i in range(len(word) - 1)]
    return [word]


def _holds(text: str, word: str) -> bool:
    if not word.isascii():
        return word in text or (len(word) > 2 and word[:-1] in text)
    stem = re.sub(r"(?:ies|s)$", "", word) if len(word) > 3 else word
    return re.search(rf"\b{re.escape(stem)}", text) is not None


def singular(word: str) -> str:
    """A plural without its ending; any other word as it is."""
    return word[:-1] if re.fullmatch(r"[a-z]{2,}[^s]s", word, re.IGNORECASE) else word
