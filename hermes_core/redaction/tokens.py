"""Tokens of services wherever they stand, found by what they begin with.

Only long words are looked at: the text is brought to two letters, in which C finds runs at memory speed.
"""

import re
from functools import cache

from hermes_core.redaction.look import drawn_by_lot, is_placeholder
from hermes_core.redaction.patterns import compiled as _re
from hermes_core.redaction.patterns import rule as _rule
from hermes_core.redaction.patterns import table, tree, words

__all__ = ["token_spans"]

Span = tuple[int, int, bool]  # start, end, and whether nothing of it may be shown
_RUN = b"a" * 15
_TABLE = bytes(97 if (chr(i).isalnum() and i < 128) or chr(i) in "_-" else 32 for i in range(256))
_HEX = "0123456789abcdef"
_UUID = _HEX + "-"
_JOINS = frozenset("./$+:~#^!")
_FAR = 300  # characters of a body that are judged: a word of nothing but beginnings stays cheap
_BACK = 24  # the longest beginning that may stand before its long word
_WORDS = r"[A-Za-z]+(?:[-_.](?:[A-Za-z]+|v?\d{1,3}))+"
_BITCOIN = r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}"
_MIXED = r"(?:[^\d]*\d){5}|(?=[^a-z\n]*[a-z])(?=[^A-Z\n]*[A-Z])\D*\d"  # five digits, or one and letters of both cases
_TURNS = r"(?:[a-zA-Z_-]*(?:\d+[a-zA-Z]|[a-zA-Z]\d)){3}"
_DATA = r"[A-Za-z0-9+/]{40}$"


_BODIES = {
    "surely": r"[A-Za-z0-9_-]{12,}",
    "digits": r"(?=[A-Za-z_=.-]*\d)[A-Za-z0-9_=.-]{12,}",
    "random": r"[A-Za-z0-9_+=-]{14,}",
}


@cache
def _begins() -> re.Pattern[str]:
    literals = tree([literal for _, *rest in table("formats") for literal in _literals(rest)])
    return re.compile(
        r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2}))" + f"({literals})"
    )


def _literals(words: list[str]) -> list[str]:
    return [word.replace("\\s", " ") for word in words]


@cache
def _rules() -> dict[str, list[tuple[str, str, str]]]:
    """For each shortest literal those that begin with it, the longest first, with the name and pattern of the body."""
    rules = [(lit, body, _BODIES.get(body, body)) for body, *words in table("formats") for lit in _literals(words)]
    short = {_begins().match(lit)[0] for lit, _, _ in rules}  # type: ignore[index]
    return {s: sorted((r for r in rules if r[0].startswith(s)), key=lambda r: -len(r[0])) for s in short}


def token_spans(text: str, start: int) -> list[Span]:
    """Where tokens are in a text, from ``start`` on."""
    flat = text.encode("ascii", "replace").translate(_TABLE)
    found: list[Span] = []
    first, digit, turns, find = _begins().match, _re(_MIXED).match, _re(_TURNS).match, flat.find
    at, after = find(_RUN, start), start
    while at >= 0:
        end = find(b" ", at)
        end = len(flat) if end < 0 else end
        if at >= after:
            back = at > 0 and text[at - 1] in _JOINS
            if not text[at:end].strip(_HEX if end - at != 36 else _UUID):  # a digest, or a thing's number
                span = _token(text, max(after, at - _BACK), at, end) if back else None
            elif back or digit(text, at, end):
                span = _token(text, max(after, at - _BACK) if back else at, at, end)
                span = span or (_strange(text, at, end) if end - at >= 20 and turns(text, at, end) else None)
            else:  # a name, nearly always: only its beginning is looked at
                span = _token(text, at, at, end) if first(text, at) else None
            if span:
                found.append(span)
                end = max(end, span[1])
        after = end
        at = find(_RUN, end)
    return found


def _token(text: str, begin: int, at: int, end: int) -> Span | None:
    search, rules = _begins().search, _rules()
    hit = search(text, begin, end)
    while hit:
        place = hit.start()
        if text[max(0, place - 3) : place] not in ("pk_", "pk.", "pk-"):  # public keys
            data = text[place - 1 : place] in "+/" and _re(_DATA).search(text, max(0, place - 60), place)
            for literal, kind, body in rules[hit[0]]:
                there = text.startswith(literal, place) and not (data and literal.isalnum())
                if there and (last := _body(text, place + len(literal), kind, body)):
                    return place, last, literal.startswith("AAAA")
        hit = search(text, place + 1, end)
    return _unnamed(text, at + (text[at - 1 : at] == "\\" and text[at] in "nrt"), end)


def _strange(text: str, at: int, end: int) -> Span | None:
    """A word that looks drawn by lot behind a beginning of its own, or on a line that speaks of secrets before it."""
    if (at and text[at - 1] in "+/") or text[end : end + 1] in ("+", "/"):  # of encoded data, or of a path
        return None
    match = _rule("tokens.ended").fullmatch(text, at, end)
    if match:
        return at, end, False
    at += end - at - len(text[at:end].lstrip("-_"))
    end = _re(r"(?:\.[\w-]{16,}){0,3}").match(text, end).end()  # type: ignore[union-attr]
    match = _re(r"([a-z]{2,5})_(?:[a-z]{2,8}_)?[0-9a-f]{40,}").fullmatch(text, at, end)
    if match and match[1] not in words("numbered"):
        return at, end, False
    match = _rule("tokens.stranger").fullmatch(text, at, end)
    if match and not _re(r"[0-9a-f]{32,}$").search(match[2]) and drawn_by_lot(match[2], 24):
        return (at, end, False) if set(words("numbered")).isdisjoint(_re("[_-]").split(match[1].lower())) else None
    if end - at == 66 and text.startswith("0x", at) and not text[at + 2 : end].strip(_HEX):
        last = text.find("\n", end, end + 80)
        here = text[max(text.rfind("\n", 0, at) + 1, at - 80) : last if last > 0 else end + 80]
        return (at, end, False) if _re(r"(?i)private|wallet|signer|deployer").search(here) else None
    line = max(text.rfind("\n", max(0, at - 80), at) + 1, at - 80, 0)
    if not _rule("tokens.told").search(text, line, at) or _rule("tokens.untold").search(text, line, at):
        return None
    many = len(_re(r"\d").findall(text, at, end)) >= 4 or _re(r"[a-z].*[A-Z]|[A-Z].*[a-z]").search(text, at, end)
    return (at, end, False) if many and drawn_by_lot(text[at:end], 20) else None


def _body(text: str, place: int, kind: str, body: str) -> int:
    """Where the token ends whose literal ended at a place; 0 when this is none."""
    match = _re(body).match(text, place, place + _FAR)
    if match is None:
        return 0
    value = match[0].rstrip(".") if match[0][-1] == "." else match[0]
    if is_placeholder(value) or _re(_WORDS).fullmatch(value) or len(set(value)) < 5:
        return 0
    if kind == "random" and not drawn_by_lot(value, 14):
        return 0
    return place + len(value) if len(match[0]) < _FAR else (_re(body).match(text, place) or match).end()


def _unnamed(text: str, at: int, end: int) -> Span | None:
    """Tokens without a name of their own: Discord's, Telegram's, Mailchimp's, Terraform's, coins' keys."""
    size = end - at
    if text[at] in "MNO" and 23 <= size <= 28 and text[end : end + 1] == ".":
        match = _re(r"[\w-]{6}\.[\w-]{27,40}").match(text, end + 1)
        return (at, match.end(), False) if match else None
    if text[at - 3 : at] in ("7Q~", "8Q~") and (match := _re(r"[\w.~-]{31,}").match(text, at)):
        return max(at - 6, 0), match.end(), False
    if text[at - 1 : at] == "!" and (org := _re(r"00D[A-Za-z0-9]{12,15}!$").search(text, max(0, at - 20), at)):
        return org.start(), end, False
    if size == 36 and text.endswith("amzn.mws.", 0, at):
        return at - 9, end, False
    if size == 32 and text[at - 1 : at] == ":" and _re(r"\d/\d{10,}(?:/\d{10,})?:$").search(text, max(0, at - 50), at):
        return _re(r"\d/[\d/]{10,40}:$").search(text, max(0, at - 50), at).start(), end, False  # type: ignore[union-attr]
    if size in (35, 34, 36) and text[at - 1 : at] == ":" and at:
        match = _re(r"(?<!\d)\d{8,10}:$").search(text, max(0, at - 12), at)
        return (match.start(), end, False) if match and drawn_by_lot(text[at:end]) else None
    if (
        36 <= size <= 37
        and text[end - 4 : end].lstrip("s-").startswith("us")
        and _re(r"[0-9a-f]{32}-us\d{1,2}").fullmatch(text, at, end)
    ):
        return at, end, False
    if size in (51, 52) and _re(_BITCOIN).fullmatch(text, at, end) and text[end : end + 1] not in ("/", "+", "="):
        before = text[at - 1 : at] if at else ""
        return (at, end, False) if before not in ("/", "+", "=", "-") and drawn_by_lot(text[at:end]) else None
    if size == 34 and text.startswith("AC", at) and (match := _re(r":([0-9a-f]{32})\b").match(text, end)):
        return (*match.span(1), False)
    if text.startswith(".atlasv1.", end):
        match = _re(r"[\w-]{20,}").match(text, end + 9)
        return (at, match.end(), False) if match else None
    if size >= 40 and text.startswith("atlasv1.", max(0, at - 8)):
        match = _re(r"[\w-]{10,}\.").search(text, max(0, at - 24), at - 8)
        return (match.start() if match else at, end, False)
    return None
