"""Reading what Telegram sends: an update becomes an Incoming, or nothing when it holds nothing a person said.

Nothing in an update is trusted to be there or to be of the right type: ``read_update`` raises ValueError, KeyError or
TypeError for what makes no sense, and whoever calls it notes that and goes on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["ALLOWED", "Attached", "Incoming", "Me", "read_message", "read_update"]

# Edits are not asked for: Telegram also tells them when a preview or a live location changes, and what was said to the
# agent is said.
ALLOWED = ("message", "channel_post", "callback_query", "my_chat_member")
_QUOTE = 2000  # characters of a quoted message
_QUOTATIONS = ("blockquote", "expandable_blockquote")  # what stands so in a text
_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}/[a-z0-9][a-z0-9.+-]{0,100}")
_KINDS: Mapping[str, Literal["dm", "group", "channel"]] = {
    "private": "dm",
    "group": "group",
    "supergroup": "group",
    "channel": "channel",
}
_MEDIA = {
    "voice": "audio/ogg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "video_note": "video/mp4",
    "animation": "video/mp4",
}


class Me(NamedTuple):
    """The bot: its number and its name without the @; other agents of ours, with theirs, in small letters."""

    id: str
    username: str
    peers: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Attached:
    """A file of a message. ``name`` is what the sender calls it; ``size`` in bytes, 0 when it is not said."""

    file_id: str
    unique: str
    media_type: str
    name: str = ""
    size: int = 0


@frozen(kw_only=True)
class Incoming:
    """What a person said or pressed. ``press`` is the id of a pressed button's query, ``album`` that of an album.

    ``forwarded``: somebody else wrote it, wherever it was brought from. ``bot``: another bot says it, and names us.
    ``peer``: an agent of ours does. ``removed``: it says that the sender put the bot out of the chat.
    """

    event_id: str
    chat: str
    sender: str
    thread: str = ""
    kind: Literal["dm", "group", "channel"] = "dm"
    addressed: bool = True
    sender_name: str = ""
    chat_name: str = ""
    message_id: str = ""
    text: str = ""
    files: Sequence[Attached] = ()
    quote: str = ""
    quote_by: str = ""
    press: str = ""
    album: str = ""
    forwarded: bool = False
    bot: bool = False
    peer: bool = False
    removed: bool = False


def read_update(update: Mapping[str, JSON], me: Me) -> Incoming | None:
    """What a person says with an update, or None. Raises ValueError, KeyError and TypeError."""
    number = int(update["update_id"])
    if press := update.get("callback_query"):
        return _press(number, press, me)
    if change := update.get("my_chat_member"):
        return _removed(number, change, me)
    message = update.get("message") or update.get("channel_post")
    return read_message(number, message, me) if message else None


def read_message(number: int, message: Mapping[str, JSON], me: Me) -> Incoming | None:
    """What a person says with a message, or None. Raises ValueError, KeyError and TypeError."""
    chat, sender, name = _who(message)
    bot = _is_bot(message)
    peer = bot and _KINDS[chat["type"]] == "group" and f"@{message['from'].get('username')}".lower() in me.peers
    if sender == me.id or (bot and not (_named(message, me) if peer else _named_by_a_bot(message, me))):
        return None
    files = list(_files(message))
    text = "\n".join(t for t in (_words(message, me), *_described(message)) if t)
    if not text and not files:
        return None  # somebody joined, a title changed, …
    kind = _KINDS[chat["type"]]
    return Incoming(
        event_id=f"{me.id}:{number}:{int(message['message_id'])}",
        chat=str(int(chat["id"])),
        sender=sender,
        thread=_thread(message),
        kind=kind,
        addressed=kind == "dm" or _addressed(message, me),
        sender_name=name,
        chat_name=_title(chat),
        message_id=str(int(message["message_id"])),
        text=text,
        files=files,
        quote=_quote(message),
        quote_by=_quote_by(message, me),
        album=str(message.get("media_group_id") or ""),
        forwarded=_forwarded(message),
        bot=bot and not peer,
        peer=peer,
    )


def _forwarded(message: Mapping[str, JSON]) -> bool:
    """Whether somebody else wrote it: forwarded (older servers say when, newer ones whence), made by a bot, a card."""
    return not message.keys().isdisjoint(("forward_origin", "forward_date", "via_bot", "contact", "venue"))


def _is_bot(message: Mapping[str, JSON]) -> bool:
    """Whether another bot speaks. Who speaks as a group or channel has a bot of Telegram's own in their place."""
    return "sender_chat" not in message and (message.get("from") or {}).get("is_bot") is True


def _named_by_a_bot(message: Mapping[str, JSON], me: Me) -> bool:
    """Whether a bot speaks to us of its own accord. An answer to us never does: two bots would go on for ever."""
    answered = message.get("reply_to_message") or {}
    return str((answered.get("from") or {}).get("id")) != me.id and _named(message, me)


def _press(number: int, press: Mapping[str, JSON], me: Me) -> Incoming | None:
    message, says = press.get("message"), press.get("data")
    if not message or not says:
        return None
    chat = message["chat"]
    return Incoming(
        event_id=f"{me.id}:{number}:{press['id']}",
        chat=str(int(chat["id"])),
        sender=str(int(press["from"]["id"])),
        thread=_thread(message),
        kind=_KINDS[chat["type"]],
        sender_name=_full_name(press["from"]),
        chat_name=_title(chat),
        message_id=str(int(message["message_id"])),
        text=str(says),
        press=str(press["id"]),
    )


def _removed(number: int, change: Mapping[str, JSON], me: Me) -> Incoming | None:
    """That somebody put the bot out of a group or channel; what else changes for it there is nobody's words."""
    chat, by = change["chat"], str(int(change["from"]["id"]))
    kind, now = _KINDS[chat["type"]], change["new_chat_member"]["status"]
    if kind == "dm" or by == me.id or now not in ("left", "kicked"):
        return None
    return Incoming(
        event_id=f"{me.id}:{number}:removed",
        chat=str(int(chat["id"])),
        sender=by,
        kind=kind,
        sender_name=_full_name(change["from"]),
        chat_name=_title(chat),
        removed=True,
    )


def _who(message: Mapping[str, JSON]) -> tuple[Mapping[str, JSON], str, str]:
    """The chat, and the id and name of who speaks: where somebody speaks as a group or channel, that is the sender."""
    chat, person = message["chat"], message.get("from") or {}
    as_chat = message.get("sender_chat")
    if as_chat:
        return chat, str(int(as_chat["id"])), _title(as_chat)
    return chat, str(int(person.get("id") or chat["id"])), _full_name(person) or _title(chat)


def _full_name(person: Mapping[str, JSON]) -> str:
    name = " ".join(str(person[k]) for k in ("first_name", "last_name") if person.get(k))
    return (name or str(person.get("username") or ""))[:200]


def _title(chat: Mapping[str, JSON]) -> str:
    return (str(chat.get("title") or "") or _full_name(chat))[:200]


def _thread(message: Mapping[str, JSON]) -> str:
    """The topic. Replies in a group without topics carry a thread too, into which nothing can be sent."""
    return str(int(message["message_thread_id"])) if message.get("is_topic_message") else ""


def _quote(message: Mapping[str, JSON]) -> str:
    chosen = message.get("quote")
    if chosen:
        return str(chosen.get("text") or "")[:_QUOTE]
    answered = message.get("reply_to_message") or {}
    if "forum_topic_created" in answered:  # every message of a topic answers the one that made it
        return ""
    return str(answered.get("text") or answered.get("caption") or "")[:_QUOTE]


def _quote_by(message: Mapping[str, JSON], me: Me) -> str:
    """Who wrote what it answers, our own name for us; nobody where that was brought, or a chat's, or is elsewhere.

    Nor where somebody quoted somebody in it: a part of it that is chosen does not say whose it was.
    """
    answered = message.get("reply_to_message") or {}
    if _forwarded(answered) or "sender_chat" in answered or "external_reply" in message or "from" not in answered:
        return ""
    author = str(int(answered["from"]["id"]))
    if author == me.id:
        return me.username
    return "" if any(entity.get("type") in _QUOTATIONS for entity in _entities(answered)) else author


def _entities(message: Mapping[str, JSON]) -> Sequence[Mapping[str, JSON]]:
    """What forms text or caption."""
    return message.get("entities") or message.get("caption_entities") or ()


def _pieces(message: Mapping[str, JSON]) -> Iterator[tuple[Mapping[str, JSON], str]]:
    """The entities of text or caption, each with what it covers."""
    text = str(message.get("text") or message.get("caption") or "")
    wide = text.encode("utf-16-le", "surrogatepass")
    for entity in _entities(message):
        start, length = int(entity["offset"]), int(entity["length"])
        yield entity, wide[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def _addressed(message: Mapping[str, JSON], me: Me) -> bool:
    answered = message.get("reply_to_message") or {}
    if "forum_topic_created" not in answered and str((answered.get("from") or {}).get("id")) == me.id:
        return True
    return _named(message, me) or any(e.get("type") == "bot_command" and "@" not in p for e, p in _pieces(message))


def _named(message: Mapping[str, JSON], me: Me) -> bool:
    """Whether it names us."""
    own = f"@{me.username}".lower()
    for entity, piece in _pieces(message):
        kind = entity.get("type")
        if kind == "mention" and piece.lower() == own:
            return True
        if kind == "text_mention" and str((entity.get("user") or {}).get("id")) == me.id:
            return True
        if kind == "bot_command" and piece.lower().endswith(own):
            return True
    return False


def _words(message: Mapping[str, JSON], me: Me) -> str:
    """Text or caption, without the bot's own name before it and behind a command."""
    text = _with_quotes(message, str(message.get("text") or message.get("caption") or ""))
    name = re.escape(f"@{me.username}")
    text = re.sub(rf"\A\s*{name}\b[\s,:]*(?=\S)", "", text, flags=re.IGNORECASE)
    return re.sub(rf"\A(/\w+){name}\b", r"\1", text, flags=re.IGNORECASE)


def _with_quotes(message: Mapping[str, JSON], text: str) -> str:
    """The text with ``>`` before the lines that stand in it as a quotation, as one writes it where that has no form."""
    marked = [
        (int(entity["offset"]), int(entity["offset"]) + int(entity["length"]))
        for entity in _entities(message)
        if entity.get("type") in _QUOTATIONS
    ]
    if not marked:
        return text
    lines, at = [], 0
    for line in text.split("\n"):
        end = at + len(line.encode("utf-16-le", "surrogatepass")) // 2
        quoted = any(begin <= end and at < over for begin, over in marked)
        lines.append(f"> {line}" if quoted else line)
        at = end + 1
    return "\n".join(lines)


def _files(message: Mapping[str, JSON]) -> Iterator[Attached]:
    if photos := message.get("photo"):
        yield _attached(max(photos, key=lambda p: int(p.get("width", 0)) * int(p.get("height", 0))), "image/jpeg")
    for name, media_type in _MEDIA.items():
        if found := message.get(name):
            yield _attached(found, media_type)
    if (found := message.get("document")) and not message.get("animation"):
        yield _attached(found, "application/octet-stream")
    if sticker := message.get("sticker"):
        moving = sticker.get("is_animated") or sticker.get("is_video")
        still = (sticker.get("thumbnail") or sticker.get("thumb")) if moving else sticker
        if still:
            yield _attached(still, "image/webp")


def _attached(found: Mapping[str, JSON], usual: str) -> Attached:
    said = str(found.get("mime_type") or "").lower()
    name = re.sub(r"[\x00-\x1f\x7f/\\\[\]]", "_", str(found.get("file_name") or ""))[-120:]
    return Attached(
        file_id=str(found["file_id"]),
        unique=str(found.get("file_unique_id") or found["file_id"]),
        media_type=said if _TYPE.fullmatch(said) else usual,
        name=name,
        size=int(found.get("file_size") or 0),
    )


def _described(message: Mapping[str, JSON]) -> Iterator[str]:
    """In words what has no text and is no file. What it is called was written elsewhere: it ends no bracket or line."""
    if sticker := message.get("sticker"):
        which = f" of the set {_plain(sticker['set_name'])}" if sticker.get("set_name") else ""
        yield f"[sticker {_plain(sticker.get('emoji'))}{which}]".replace(" ]", "]")
    if (venue := message.get("venue")) or message.get("location"):
        place = (venue or {}).get("location") or message.get("location") or {}
        called = f": {_plain((venue or {}).get('title'))}, {_plain((venue or {}).get('address'))}" if venue else ""
        yield f"[location {_plain(place.get('latitude'))}, {_plain(place.get('longitude'))}{called}]"
    if contact := message.get("contact"):
        yield f"[contact {_plain(_full_name(contact))}, {_plain(contact.get('phone_number'))}]"
    if poll := message.get("poll"):
        choices = "; ".join(_plain(o.get("text")) for o in poll.get("options") or ())
        yield f"[poll {_plain(poll.get('question'))}: {choices}]"
    if dice := message.get("dice"):
        yield f"[dice {_plain(dice.get('emoji'))} shows {_plain(dice.get('value'))}]"


def _plain(value: JSON) -> str:
    """What somebody else calls something: on one line, and without brackets."""
    return " ".join(re.sub(r"[\[\]\x00-\x1f\x7f]", " ", "" if value is None else str(value)).split())
