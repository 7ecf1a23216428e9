"""The published rules of message entities, checked without mercy; written from the Bot API's documentation.

https://core.telegram.org/bots/api#formatting-options and #messageentity
"""

from itertools import combinations
from urllib.parse import urlsplit

STYLES = {"bold", "italic", "underline", "strikethrough", "spoiler"}
QUOTES = {"blockquote", "expandable_blockquote"}
ALONE = {"pre", "code"}
KNOWN = STYLES | QUOTES | ALONE | {"text_link"}
FIELDS = {"type", "offset", "length"}


def problems(text, entities):
    """What is wrong with a text and its entities; an empty list when Telegram takes them as they are."""
    try:
        wide = text.encode("utf-16-le")
    except UnicodeEncodeError:
        return ["strings must be encoded in UTF-8"]
    found = []
    if not text.strip():
        found.append("message text is empty")
    if any(c < " " and c not in "\n\t" for c in text):
        found.append("the text holds control characters")
    size = len(wide) // 2
    for entity in entities:
        found += _alone(entity, wide, size)
    for one, other in combinations([e for e in entities if not found], 2):
        found += _together(one, other)
    return found


def _alone(entity, wide, size):
    kind, start, length = entity.get("type"), entity.get("offset"), entity.get("length")
    if kind not in KNOWN or type(start) is not int or type(length) is not int:
        return [f"unknown entity {entity}"]
    more = set(entity) - FIELDS - ({"url"} if kind == "text_link" else {"language"} if kind == "pre" else set())
    found = [f"{kind} has {more}"] if more else []
    if start < 0 or length <= 0 or start + length > size:
        return [*found, f"entity beginning at UTF-16 offset {start} ends after the end of the text"]
    found += [f"{kind} splits the symbol at UTF-16 offset {at}" for at in (start, start + length) if _low(wide, at)]
    if not wide[2 * start : 2 * (start + length)].decode("utf-16-le", "replace").strip():
        found.append(f"{kind} covers nothing that is seen")
    if kind == "text_link":
        parts = urlsplit(entity.get("url", ""))
        if parts.scheme not in ("http", "https", "tg") or "." not in (parts.hostname or ""):
            found.append(f"wrong link {entity.get('url')!r}")
    return found


def _low(wide, at):
    return 0xDC00 <= int.from_bytes(wide[2 * at : 2 * at + 2], "little") <= 0xDFFF


def _together(one, other):
    a, b = sorted((one, other), key=lambda e: (e["offset"], -e["length"]))
    end = a["offset"] + a["length"]
    if b["offset"] >= end:
        return []
    kinds = {a["type"], b["type"]}
    what = f"{a} and {b}"
    if b["offset"] + b["length"] > end:
        return [f"cross: {what}"]
    if kinds & ALONE and (kinds & STYLES or kinds <= ALONE):
        return [f"code with something else: {what}"]
    if kinds <= QUOTES:
        return [f"nested quotes: {what}"]
    if not kinds & (STYLES | QUOTES):
        return [f"these cannot hold each other: {what}"]
    if len(kinds) == 1:
        return [f"the same twice: {what}"]
    return []
