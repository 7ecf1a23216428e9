"""Values of headers, of ``name: …, value: …`` pairs, and those that the next line holds."""

import re

from hermes_tool_redaction.look import Where, is_placeholder, is_secret_value
from hermes_tool_redaction.names import strength
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.values import MARK, PLAIN, between_quotes, judged, trimmed

__all__ = ["AUTH", "authorization", "cookies", "next_line", "pair_value"]

AUTH = frozenset(
    {"authorization", "proxy-authorization", "proxy_authorization", "http_authorization", "x-authorization"}
)

_OFTEN = 3  # places that are tried for one word


def authorization(text: str, place: int, gap: re.Match[str]) -> list[tuple[int, int, bool]]:
    """A header's value: what follows the scheme."""
    quoted = between_quotes(text, place)
    begin, end = quoted or (place, place)
    if quoted is None:
        end = _re(r"[^\n\r\"'`<>\\,}]{0,4096}").match(text, place).end()  # type: ignore[union-attr]
    value = text[begin:end]
    scheme = _rule("headers.scheme").match(value)
    if scheme:
        begin += scheme.end()
        value = text[begin:end]
    word = _re(r"\S+").match(value)
    if word is None or ("=" in word[0].rstrip("=")[:24] and not scheme):
        return []
    if quoted is None and not scheme and _re(r"[A-Za-z_][\w.]*[(\[].*").fullmatch(word[0]):
        return []
    if is_placeholder(word[0]) or (not scheme and not is_secret_value(word[0], "S", Where(env=True))):
        return []
    if _re(r"[a-z]+|[A-Z][a-z]+").fullmatch(word[0]) or not _re(r"[\w+/=.~:|!@#$%^&*-]{4,}").match(word[0]):
        return []
    rest = value[word.end() :].strip()
    return [(begin, begin + word.end(), False)] if not rest or quoted is None or not scheme else [(begin, end, False)]


def cookies(text: str, gap: re.Match[str], name: str) -> list[tuple[int, int, bool]]:
    """The values of a cookie header; what says where and how long one holds stays."""
    if not (gap["sign"] and ":" in gap["sign"]) and not gap["comma"]:
        return []
    quoted = between_quotes(text, gap.end())
    begin, end = quoted or (gap.end(), gap.end())
    if quoted is None:
        end = _re(r"[^\n\r\"'`]{0,4096}").match(text, begin).end()  # type: ignore[union-attr]
    spans = []
    for pair in _re(r"([^\s=;,]{1,100})=(\"?)([^;\s\"]{1,4096})").finditer(text, begin, end):
        if pair[1].lower() in ("path", "domain", "expires", "max-age", "samesite", "priority", "version"):
            continue
        value = pair[3]
        if not is_placeholder(value) and not _re(
            r"[A-Za-z_-]{1,14}|\d{1,6}|[a-z]{2}[-_][A-Za-z]{2}|\d{1,4}([.x/-]\d{1,4})+"
        ).fullmatch(value):
            spans.append((pair.start(3), pair.end(3), False))
    return spans


def _cookies_in(text: str, quoted: tuple[int, int]) -> list[tuple[int, int, bool]]:
    spans = [(p.start(1), p.end(1), False) for p in _re(r"=([^;\s\"]{8,4096})").finditer(text, *quoted)]
    return [s for s in spans if not is_placeholder(text[s[0] : s[1]])] or (
        [(*quoted, False)] if is_secret_value(text[quoted[0] : quoted[1]], "S", Where(quoted=True)) else []
    )


def _name_before(text: str, first: int, begin: int) -> re.Match[str] | None:
    """The last ``name: TOKEN`` between two places, when nothing of weight stands behind it."""
    for word in ("ame", "AME", "ey", "eader", "ield", "ariable", "arameter"):
        at = text.rfind(word, first, begin)
        for _ in range(_OFTEN):  # ``key="ApiKey"``: what is named may end like the word that names it
            if at < 0:
                break
            if match := _rule("headers.pair").match(text, at, begin):
                return match
            at = text.rfind(word, first, at)
    return None


def pair_value(text: str, begin: int, end: int) -> list[tuple[int, int, bool]]:
    """``value:`` behind or before the name it belongs to: ``name: TOKEN, value: …``."""
    gap = _re(rf"{MARK}?\s*[:=]\s*").match(text, end)
    if gap is None:
        return []
    far = max(0, begin - 300)
    first = text.rfind("{", far, begin) + 1 or far
    match = _name_before(text, first, begin)
    quoted = between_quotes(text, gap.end())
    if match is None and quoted:
        later = _re(rf"\\*[\"'](?:\s*,\s*|[ \t]+){MARK}?(?:name|key){MARK}?\s*[:=]\s*{MARK}?([\w.-]{{2,60}})").match(
            text, quoted[1]
        )
        match = later
    name = (
        "api_key"
        if match and match[1] == "value" and "apikey" in text[max(0, first - 30) : first]
        else match[1]
        if match
        else ""
    )
    if match is None or not (kind := strength(name)):
        return []
    if quoted is None:
        plain = _re(PLAIN).match(text, gap.end())
        return (
            judged(text, plain.start(), trimmed(text, plain.start(), plain.end()), kind, Where(env=True))
            if plain
            else []
        )
    if match[1].lower() in AUTH:
        return authorization(text, gap.end(), gap)
    if kind == "C":
        return _cookies_in(text, quoted)
    return judged(text, *quoted, kind, Where(env=True))


def next_line(text: str, place: int, kind: str) -> list[tuple[int, int, bool]]:
    """The value of a name that ended the line before."""
    match = _rule("headers.next_line").match(text, place)
    if match is None or _re(r"[\w.-]+:$").fullmatch(match[2]):
        return []
    where = Where(quoted=match[1] is not None, env=False)
    plain = match[2].strip("`")
    least = r"\d" if plain == match[2] else r"\d.*\d"  # what manuals show as code is a command, more often than not
    if match[1] is None and _re(r"[a-z]+:.*|[\w-]+").fullmatch(plain) and not _re(least).search(plain):
        return []
    return judged(text, match.start(2), match.end(2), kind, where)
