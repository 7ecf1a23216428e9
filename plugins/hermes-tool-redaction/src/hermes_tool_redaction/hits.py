"""The places of a text worth a closer look, found in a few passes in C: what is not near one costs next to nothing."""

import re
from functools import cache

from hermes_tool_redaction.patterns import compiled, table, text_of, tree, words

__all__ = ["hits"]

# What is looked for by itself: rare, so that a pass each is the cheapest.
_ALONE = {
    "://": "://", "-----begin": "-----begin", "---- begin": "-----begin", "private-lines": "-----begin",
    "bearer": "bearer", "basic": "basic", "mnemonic": "mnemonic", ":5432:": "pgpass", ":*:": "pgpass",
    "otp": "name", "sudo -s": "sudo -s", "docker secret create": "sudo -s", ".eyj": "signed", "hook": "hook",
}  # fmt: skip
_PLACES = {
    "value": r"""value(?=[\\"'`&;quot\d#]{0,8}[ \t]*[:=])""",
    "crypt": r"\$(?:2[abxy]?|[15-9yg]|gy|apr1|argon2\w*|scrypt|md5|sha1|[phs]|\d{4,7})[$:]",
    "@": r"@(?=tcp\(|unix\(|//|[\w.-]+:\d{2,5}\b|(?:\d{1,3}\.){3}\d)",
    "option": r"-(?<![^ \n]-)-?[a-z][\w-]*(?=[ \t=]*\S)",
}


@cache
def _named(kind: str) -> re.Pattern[str]:
    return re.compile(tree(words(kind)) + text_of("hits.sign"))


_RARE = '^{<*$>zqjxvkw5/:3bygfpmud#"(-._chl r=snioate0124678[,'  # the rarest characters of texts first


@cache
def _alone() -> tuple[re.Pattern[str], dict[str, list[tuple[int, str, str]]]]:
    """A pattern that stops at each literal's rarest character, as most places then cost nothing; what may be there."""
    literals = [*_ALONE.items(), *((row[0], "statement") for row in table("sayings", "\t") if row[0][0] != "=")]
    places: dict[str, list[tuple[int, str, str]]] = {}
    for word, kind in literals:
        at = min(range(len(word)), key=lambda i: _RARE.index(word[i]))
        places.setdefault(word[at], []).append((at, word, kind))
    around = [
        re.escape(sign)
        + "(?:"
        + "|".join(f"(?<={re.escape(w[: at + 1])})(?={re.escape(w[at + 1 :])})" for at, w, _ in there)
        + ")"
        for sign, there in places.items()
    ]
    return re.compile("|".join(around)), places


def hits(low: str, start: int) -> list[tuple[str, int, int]]:
    """What was found, and where, in a text in lower case from ``start`` on. ``name``: part of a secret's name."""
    kinds = ("names",) if low.isascii() else ("names", "foreign")
    found = [("name", *match.span()) for kind in kinds for match in _named(kind).finditer(low, start)]
    pattern, places = _alone()
    for match in pattern.finditer(low, start):
        for at, word, kind in places[match[0]]:
            first = match.start() - at
            if first >= start and low.startswith(word, first):
                found.append((kind, first, first + len(word)))
    for kind, sign in _PLACES.items():
        found += [(kind, *match.span()) for match in compiled(sign).finditer(low, start)]
    return found
