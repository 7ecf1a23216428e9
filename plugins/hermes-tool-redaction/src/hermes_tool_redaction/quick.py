"""Whether a short text is worth a look at all: without a pattern, as a start that redacts nothing compiles nothing."""

from functools import cache

from hermes_tool_redaction.patterns import table, words

__all__ = ["LETTERS", "RUN", "is_own_id", "may_hold"]

RUN = b"a" * 15  # the shortest word that may be a token, in a text whose letters, digits, _ and - are all written so
LETTERS = bytes(97 if chr(i).isalnum() or chr(i) in "_-" else 32 for i in range(256))
_LONG, _KEY = 14, 32  # letters of a word that may be a token, and of keys that are written in small letters
_HEX = "0123456789abcdef"
_PATH = "abcdefghijklmnopqrstuvwxyz0123456789_-./:"
_BLANKS = (" -", "\n-", "env ", "arg ", "set ", "setx ", "\x1b")


def may_hold(text: str) -> bool:
    """False only for what surely holds no secret that would be recognised."""
    if len(text) > 4096:
        return True
    low = f"\n{text.lower()}"
    if "+" in text or any(map(low.__contains__, _signs())):
        return True
    return any(len(word) > _LONG and not _is_digest(word) and not _is_plain(word) for word in text.split())


def _is_digest(word: str) -> bool:
    """Whether this is a digest or the number of a thing; two kinds of keys are written in the same letters."""
    return not word.strip(_HEX + "-") and word[:3] != "fc-" and word.count("-") != 2


def _is_plain(word: str) -> bool:
    """Whether this is a path, a row of paths, a name or a session's id, in which no token would be found."""
    low = word.lower()
    if low.strip(_PATH) or ".eyj" in low or "value" in low:
        return False
    if _is_small(word):
        return not any(literal in word for literal in _literals())
    places = word.replace(":", "/").split("/")
    long = [place for place in places if RUN in place.encode("ascii", "replace").translate(LETTERS)]
    if all(_is_small(place) and len(place) < _KEY for place in long):
        return not long or not any(literal in word for literal in _literals())
    return is_own_id(word)


def _is_small(word: str) -> bool:
    """Whether it is written in small letters alone, as few tokens are."""
    return word == word.lower() and not any(map(str.isdigit, word))


def is_own_id(word: str) -> bool:
    """Whether this is the id of a session of ours, or of a child agent, a call or a run."""
    kind, _, number = word.partition("_")
    if kind in ("child", "call", "run", "toolu"):
        return 16 <= len(number) <= 32 and not number.strip(_HEX)
    day, _, rest = word.partition("_")
    time, _, mark = rest.partition("_")
    made = len(day) == 8 and len(time) == 6 and 6 <= len(mark) <= 8
    return made and (day + time).isdigit() and word.isascii() and not mark.strip(_HEX)


@cache
def _signs() -> tuple[str, ...]:
    """What stands in a text that names a secret, in small letters."""
    sayings = (literal.lstrip("=") for literal, _, _ in table("sayings", "\t"))
    return (*words("names"), *words("foreign"), *words("signs"), *_BLANKS, *sayings)


@cache
def _literals() -> list[str]:
    """What tokens begin with that may be without a digit and a capital."""
    rows = (row for row in table("formats") if row[0] not in ("digits", "random") and not row[0].startswith("(?="))
    return [word.replace("\\s", " ") for _, *rest in rows for word in rest if word == word.lower()]
