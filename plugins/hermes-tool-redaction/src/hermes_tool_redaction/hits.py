"""The places of a text worth a closer look, found in a few passes in C: what is not near one costs next to nothing."""

import re
from functools import cache

from hermes_tool_redaction.patterns import compiled, table, text_of, tree, words

__all__ = ["hits"]

# What is looked for by itself: rare, so that a pass each is the cheapest.
_ALONE = {
    "://": "://", "-----begin": "-----begin", "---- begin": "-----begin", "private-lines": "-----begin",
    "bearer": "bearer", "basic": "basic", "mnemonic": "mnemonic", ":543": "pgpass", ":*:": "pgpass",
    "otp": "name", "sudo -s": "sudo -s", "docker secret create": "sudo -s", ".eyj": "signed", "hook": "hook",
    "apiversion": "manifest", "absk": "encoded", "ops_eyj": "encoded",
}  # fmt: skip
_PLACES = {
    "value": r"""value(?=[\\"'`&;quot\d#]{0,8}[ \t]*[:=])""",
    "crypt": r"\$(?:2[abxy]?|[15-9yg]|gy|apr1|argon2\w*|scrypt|md5|sha1|[phs]|\d{4,7})[$:]",
    "@": r"@(?=tcp\(|unix\(|//|[\w.-]+:\d{2,5}\b|(?:\d{1,3}\.){3}\d)",
    "listed": r"""["'](?:-u|--user|--proxy-user)["'],[ ]?["']""",
    "option": r"-(?<![^ \n]-)-?[a-z][\w-]*(?=[ \t=]*\S)",
}


@cache
def _foreign() -> re.Pattern[str]:
    return re.compile(tree([*words("foreign"), *words("foreign_keys")]))


@cache
def _named() -> re.Pattern[str]:
    return re.compile(tree(words("names")) + text_of("hits.sign"))


_RARE = '^{<*$>zqjxvkw5/:3bygfpmud#"(-._chl r=snioate0124678[,'  # the rarest characters of texts first


def _beside(parts: list[tuple[str, str]]) -> str:
    """A pattern of what stands before and behind a character; what stands behind it is told first, as one tree."""
    first = [after for before, after in parts if not before]
    rest = [f"(?={re.escape(after)})(?<={re.escape(before)}.)" for before, after in parts if before]
    return f"(?:{'|'.join([*([f'(?={tree(first)})'] if first else []), *rest])})"


@cache
def _alone() -> tuple[re.Pattern[str], dict[str, list[tuple[int, str, str]]]]:
    """A pattern that stops at each literal's rarest character, as most places then cost nothing; what may be there."""
    literals = [*_ALONE.items(), *((row[0], "statement") for row in table("sayings", "\t") if row[0][0] != "=")]
    places: dict[str, list[tuple[int, str, str]]] = {}
    for word, kind in literals:
        at = min(range(len(word)), key=lambda i: _RARE.index(word[i]))
        places.setdefault(word[at], []).append((at, word, kind))
    around = [
        re.escape(sign) + _beside([(word[:at], word[at + 1 :]) for at, word, _ in there])
        for sign, there in places.items()
    ]
    return re.compile("|".join(around)), places


def hits(low: str, start: int) -> list[tuple[str, int, int]]:
    """What was found, and where, in a text in lower case from ``start`` on. ``name``: part of a secret's name."""
    found = [("name", *match.span()) for match in _named().finditer(low, start)]
    if not low.isascii():
        told = compiled(text_of("hits.sign")).match
        for match in _foreign().finditer(low, start):
            found += [("foreign", *match.span()), *([("name", *match.span())] if told(low, match.end()) else [])]
    pattern, places = _alone()
    for match in pattern.finditer(low, start):
        for at, word, kind in places[match[0]]:
            first = match.start() - at
            if first >= start and low.startswith(word, first):
                found.append((kind, first, first + len(word)))
    for kind, sign in _PLACES.items():
        found += [(kind, *match.span()) for match in compiled(sign).finditer(low, start)]
    return found
