"""Tokens of services wherever they stand, found by what they begin with.

Only long words are looked at: the text is brought to two letters, in which C finds runs at memory speed.
"""

import re
from functools import cache

from hermes_tool_redaction.look import drawn_by_lot, is_placeholder
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.patterns import table, tree, words
from hermes_tool_redaction.places import just_before, line_begin, line_end
from hermes_tool_redaction.quick import LETTERS, RUN, is_own_id

__all__ = ["token_spans"]

Span = tuple[int, int, bool]  # start, end, and whether nothing of it may be shown
_HEX = "0123456789abcdef"
_UUID = _HEX + "-"
_JOINS = frozenset("./$+:~#^!")
_FAR = 300  # characters of a body that are judged: a word of nothing but beginnings stays cheap
_BACK = 24  # the longest beginning that may stand before its long word
_WORD = r"(?:[A-Za-z]?[a-z]+(?:[A-Z][a-z]{2,})*|[A-Z]+)"
_WORDS = rf"{_WORD}(?:[-_.](?:{_WORD}|v?\d{{1,3}}))+"
_BITCOIN = r"(?<![/+=-])[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![\w/+=-])"
_MIXED = r"(?:[^\d]*\d){5}|(?=[^a-z\n]*[a-z])(?=[^A-Z\n]*[A-Z])\D*\d"  # five digits, or one and letters of both cases
_TURNS = r"(?:[a-zA-Z_-]*(?:\d+[a-zA-Z]|[a-zA-Z]\d)){3}"
_DATA = r"[A-Za-z0-9+/]{39}[+/]$"


_BODIES = {
    "surely": r"[A-Za-z0-9_-]{12,}",
    "digits": r"(?=[A-Za-z_=.-]*\d)[A-Za-z0-9_=.-]{12,}",
    "random": r"[A-Za-z0-9_+=-]{14,}",
}


@cache
def _begins() -> re.Pattern[str]:
    literals = tree([literal for _, *rest in table("formats") for literal in _literals(rest)])
    return re.compile(
        r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2}))(?<!pk[_.-])"
        f"({literals})"  # but no public keys
    )


def _literals(words: list[str]) -> list[str]:
    return [word.replace("\\s", " ") for word in words]


@cache
def _rules() -> dict[str, list[tuple[str, str, str]]]:
    """For each shortest literal those that begin with it, the longest first, with the name and pattern of the body."""
    rules = [(lit, body, _BODIES.get(body, body)) for body, *words in table("formats") for lit in _literals(words)]
    short = {_begins().match(lit)[1] for lit, _, _ in rules}  # type: ignore[index]
    return {s: sorted((r for r in rules if r[0].startswith(s)), key=lambda r: -len(r[0])) for s in short}


def token_spans(text: str, start: int) -> list[Span]:
    """Where tokens are in a text, from ``start`` on."""
    flat = text.encode("ascii", "replace").translate(LETTERS) + b" "
    found: list[Span] = []
    at, after = flat.find(RUN, start), start
    if at < 0:
        return found  # and nothing is compiled
    first, digit, turns, find = _begins().match, _re(_MIXED).match, _re(_TURNS).match, flat.find
    while at >= 0:
        end = find(b" ", at)
        back = text[at - 1 : at] in _JOINS
        begin = max(after, at - _BACK) if back else at
        if not text[at:end].strip(_HEX if end - at != 36 else _UUID):  # a digest, or a thing's number
            span = _token(text, begin, at, end) if back else None
        elif back or digit(text, at, end):
            span = _token(text, begin, at, end) or (_strange(text, at, end) if turns(text, at, end) else None)
        else:  # a name, nearly always: only its beginning is looked at
            span = _token(text, at, at, end) if first(text, at) else None
        if span:
            found.append(span)
            end = max(end, span[1])
        after = end
        at = find(RUN, end)
    return found


def _token(text: str, begin: int, at: int, end: int) -> Span | None:
    for hit in _begins().finditer(text, begin, end):
        place = hit.start()
        data = just_before(_DATA, text, place, 40)
        for literal, kind, body in _rules()[hit[1]]:
            there = text.startswith(literal, place) and not (data and literal.isalnum())
            if there and (last := _body(text, place + len(literal), kind, body)):
                return place, last, literal.startswith("AAAA")
    return _unnamed(text, at + (text[at - 1 : at] == "\\" and text[at] in "nrt"), end)


def _strange(text: str, at: int, end: int) -> Span | None:
    """A word that looks drawn by lot behind a beginning of its own, or on a line that speaks of secrets before it."""
    data = text[at - 1 : at] in ("+", "/") and at - 1 != line_begin(text, at, 2)  # but a line that was added has it too
    if data or text[end : end + 1] in ("+", "/"):  # of encoded data, or of a path
        return None
    if text.startswith("_Z", at) or is_own_id(text[at:end]):  # a name of C++ as linkers write it
        return None
    match = _rule("tokens.ended").fullmatch(text, at, end)
    if match:
        return at, end, False
    at = end - len(text[at:end].lstrip("-_"))
    more = _re(r"(?:\.[\w-]{16,}){1,3}").match(text, end)
    end = more.end() if more else end
    match = _re(r"([a-z]{2,5})_(?:[a-z]{2,8}_)?[0-9a-f]{40,}").fullmatch(text, at, end)
    if match and match[1] not in words("numbered"):
        return at, end, False
    match = _rule("tokens.stranger").fullmatch(text, at, end)
    if match and not _re(r"[0-9a-f]{32,}$").search(match[2]) and drawn_by_lot(match[2], 24):
        return (at, end, False) if set(words("numbered")).isdisjoint(_re("[_-]").split(match[1].lower())) else None
    line = line_begin(text, at, 80)
    if _re("0x[0-9a-f]{64}").fullmatch(text, at, end):
        here = text[line : line_end(text, end, 80)]
        return (at, end, False) if _re(r"(?i)private|wallet|signer|deployer").search(here) else None
    if not _rule("tokens.told").search(text, line, at) or _rule("tokens.untold").search(text, line, at):
        return None
    many = _re(r"(?:\d\D*){4}|[a-z].*[A-Z]|[A-Z].*[a-z]").search(text, at, end)
    return (at, end, False) if many and drawn_by_lot(text[at:end], 20) else None


def _body(text: str, place: int, kind: str, body: str) -> int:
    """Where the token ends whose literal ended at a place; 0 when this is none."""
    match = _re(body).match(text, place, place + _FAR)
    if match is None:
        return 0
    value = match[0].rstrip(".")
    if is_placeholder(value) or _re(_WORDS).fullmatch(value) or len(set(value)) < 5:
        return 0
    if kind == "random" and not drawn_by_lot(value, 14):
        return 0
    return place + len(value) if len(match[0]) < _FAR else (_re(body).match(text, place) or match).end()


def _unnamed(text: str, at: int, end: int) -> Span | None:
    """Tokens without a name of their own: Discord's, Telegram's, Mailchimp's, Terraform's, coins' keys."""
    size = end - at
    match = _rule("tokens.unnamed").match(text, at)
    if match:
        return (*match.span(match.lastindex or 0), False)
    if (head := just_before(r"[\w.~-]{0,3}[78]Q~$", text, at, 10)) and (match := _re(r"[\w.~-]{31,}").match(text, at)):
        return head.start(), match.end(), False
    if head := just_before(r"00D[A-Za-z0-9]{12,15}!$", text, at, 20):
        return head.start(), end, False
    if size == 32 and (head := just_before(r"\d/\d{10,}(?:/\d{10,})?:$", text, at, 50)):
        return head.start(), end, False
    if 34 <= size <= 36 and drawn_by_lot(text[at:end]) and (head := just_before(r"(?<!\d)\d{8,10}:$", text, at, 12)):
        return head.start(), end, False
    if (match := _re(_BITCOIN).match(text, at)) and drawn_by_lot(match[0]):
        return at, end, False
    head = just_before(r"(?:[\w-]{10,}\.)?atlasv1\.$", text, at, 24) if size >= 40 else None
    return (head.start(), end, False) if head else None
