"""Matrix events as envelopes: what was said, to whom, in answer to what."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import unquote

from hermes_core.types import Blob, Text
from hermes_core.values import frozen
from hermes_platform_matrix.markup import sound

__all__ = [
    "AUTOMATED", "FILES", "Said", "addresses", "by_bot", "parts", "plain", "quotes", "read", "replied_to", "thread_of",
    "without_name",
]  # fmt: skip

AUTOMATED = "org.hermes.automated"  # in what we send, by which one of us knows another
FILES = ("m.image", "m.file", "m.audio", "m.video")
_FALLBACK = re.compile(r"\A(?:>[^\n]*\n)+\n?")
_EVENT = re.compile(r"\$[\x21-\x7e]{1,254}")
_REPLY = re.compile(r"<mx-reply>.*?</mx-reply>", re.DOTALL | re.IGNORECASE)
_PILL = re.compile(r'href="https://matrix\.to/#/([^"/?]+)')


@frozen(kw_only=True)
class Said:
    """What an event says: its text, and whether a file comes with it."""

    text: str
    file: bool = False


def read(kind: str, content: Mapping[str, Any]) -> Said | None:
    """What an event says to us; None for what is no message: edits, reactions, calls."""
    body, sort = content.get("body"), content.get("msgtype")
    if kind == "m.sticker":
        return Said(text=f"[sticker: {plain(body)}]") if isinstance(body, str) else None
    if kind != "m.room.message" or not isinstance(body, str) or relation(content).get("rel_type") == "m.replace":
        return None
    text = sound(body)
    if sort in ("m.text", "m.notice"):
        return Said(text=_FALLBACK.sub("", text) if "m.in_reply_to" in relation(content) else text)
    if sort == "m.emote":
        return Said(text=f"* {text}")
    if sort == "m.location":
        return Said(text=f"{text}\n{sound(str(content.get('geo_uri', '')))[:200]}".strip())
    if sort in FILES:
        name = content.get("filename")
        return Said(text=text if isinstance(name, str) and name != body else "", file=True)
    return None


def by_bot(content: Mapping[str, Any]) -> bool:
    """Whether a program wrote an event: it says so, as a notice or as ours do."""
    return content.get("msgtype") == "m.notice" or content.get(AUTOMATED) is True


def quotes(content: Mapping[str, Any]) -> bool:
    """Whether part of the text is shown as a quotation, but for what it answers."""
    html = content.get("formatted_body")
    return isinstance(html, str) and "<blockquote" in _REPLY.sub("", html).lower()


def plain(name: object) -> str:
    """What somebody calls something: on one line, and without brackets."""
    return " ".join(re.sub(r"[\[\]\x00-\x1f\x7f]", " ", sound(str(name or "")[:200])).split())


def relation(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an event says of another."""
    found = content.get("m.relates_to")
    return found if isinstance(found, Mapping) else {}


def thread_of(content: Mapping[str, Any]) -> str:
    """The first event of the thread it is in, or an empty string."""
    found = relation(content)
    return _event_id(found.get("event_id")) if found.get("rel_type") == "m.thread" else ""


def replied_to(content: Mapping[str, Any]) -> str:
    """The event it answers, or an empty string. In a thread the last event is named too, and that is no answer."""
    found = relation(content)
    answered = found.get("m.in_reply_to")
    if found.get("is_falling_back") is True or not isinstance(answered, Mapping):
        return ""
    return _event_id(answered.get("event_id"))


def _event_id(value: Any) -> str:
    """The id of an event; whoever writes an event may put anything in its place."""
    return value if isinstance(value, str) and _EVENT.fullmatch(value) else ""


def addresses(content: Mapping[str, Any], text: str, user: str, names: tuple[str, ...]) -> bool:
    """Whether a message speaks to ``user`` by name: by a mention, a link, or how it begins."""
    mentions = content.get("m.mentions")
    if isinstance(mentions, Mapping):
        users = mentions.get("user_ids")
        if isinstance(users, list) and user in users:
            return True
        return without_name(text, user, names) != text
    html = content.get("formatted_body")
    pills = [unquote(unescape(p)) for p in _PILL.findall(html)] if isinstance(html, str) else []
    if user in pills:
        return True
    words = "|".join(re.escape(n) for n in (user, *names) if n)
    return bool(re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE))


def without_name(text: str, user: str, names: tuple[str, ...]) -> str:
    """The text without our name at its start: ``Hermes: /status`` says ``/status``."""
    words = "|".join(re.escape(n) for n in sorted(filter(None, names), key=len, reverse=True)) or re.escape(user)
    full = re.escape(user)
    ours = rf"{full}(?![\w.])\s*[:,]?|@?(?:{words})\s*[:,]|@(?:{words})(?!\w)"
    found = re.match(rf"\s*(?:{ours})\s*", text, re.IGNORECASE)
    return text[found.end() :] if found and found.end() < len(text) else text


def parts(said: Said, blob: Blob | None, note: str) -> tuple[Text | Blob, ...]:
    """The parts of a message: the file, then what was said with it, or why there is no file."""
    text = "\n".join(t for t in (said.text, note) if t)
    return (*((blob,) if blob else ()), *((Text(text=text),) if text or not blob else ()))
