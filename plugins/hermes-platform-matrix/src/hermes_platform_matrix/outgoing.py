"""A message as Matrix events: text with its HTML, files, threads, replies, edits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_core.errors import UserError
from hermes_core.types import Blob, Chat, Location, Message, Poll, Text
from hermes_platform_matrix.markup import html_of, sound

__all__ = [
    "LIMIT",
    "POLL",
    "edited",
    "file_content",
    "location_content",
    "poll_content",
    "related",
    "text_contents",
    "text_of",
]

LIMIT = 16_000  # characters of one message
_EVENT = 44_000  # bytes of the content of one event; encrypted it is a third longer, and 65,536 is the most


def text_of(message: Message) -> str:
    """All text of a message. Raises UserError when it is beyond the limit."""
    text = sound(
        "\n\n".join(p.text for p in message.parts if isinstance(p, Text) and not isinstance(p, Poll | Location))
    )
    if len(text) > LIMIT:
        raise UserError(f"Matrix: a message of {len(text)} characters is too long; {LIMIT} is the most.")
    return text


def text_contents(text: str) -> Iterator[dict[str, Any]]:
    """The contents of the events that carry a text: one, or more where its bytes do not fit into one."""
    content: dict[str, Any] = {"msgtype": "m.text", "body": text, "m.mentions": {}}
    if html := html_of(text):
        formatted = {**content, "format": "org.matrix.custom.html", "formatted_body": html}
        if _bytes(formatted) <= _EVENT:
            yield formatted
            return
    for piece in _pieces(text):
        yield {**content, "body": piece}


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that fit, cut at the end of a line where there is one."""
    while _bytes({"body": text}) > _EVENT:
        fits = _fitting(text)
        end = text.rfind("\n", fits // 2, fits) + 1 or fits
        yield text[:end]
        text = text[end:]
    yield text


def _fitting(text: str) -> int:
    """How many characters from the start fit."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _bytes({"body": text[:middle]}) <= _EVENT else (low, middle - 1)
    return low


def _bytes(content: Mapping[str, Any]) -> int:
    return len(json.dumps(content, ensure_ascii=False).encode())


def related(content: Mapping[str, Any], chat: Chat, *, first: bool, author: str) -> dict[str, Any]:
    """The content at its place in a chat: in the thread, and as a reply if it is the ``first`` of a message.

    ``author`` wrote what it replies to, and is told so.
    """
    reply = {"m.in_reply_to": {"event_id": chat.reply_to}} if chat.reply_to and first else {}
    relation: dict[str, Any] = dict(reply)
    if chat.thread:
        relation = {"rel_type": "m.thread", "event_id": chat.thread, "is_falling_back": not reply}
        relation |= reply or {"m.in_reply_to": {"event_id": chat.thread}}
    mentions = {"m.mentions": {"user_ids": [author]}} if reply and author else {}
    return {**content, **mentions, **({"m.relates_to": relation} if relation else {})}


def edited(contents: Sequence[Mapping[str, Any]], event_id: str) -> dict[str, Any]:
    """The content of an edit that puts a text in the place of an event. Raises UserError when it fits into no event."""
    new = dict(contents[0])
    fallback = {"msgtype": "m.text", "body": f"* {new['body']}", "m.mentions": {}}
    place = {"m.relates_to": {"rel_type": "m.replace", "event_id": event_id}}
    plain = {k: v for k, v in new.items() if k not in ("format", "formatted_body")}
    if len(contents) == 1:  # the smaller the later; clients that know no edits show the body
        for shown, text in ((fallback, new), ({**fallback, "body": "*"}, new), ({**fallback, "body": "*"}, plain)):
            content = {**shown, "m.new_content": text, **place}
            if _bytes(content) <= _EVENT + 200:
                return content
    raise UserError("Matrix: the text is too long to be put in the place of another message.")


POLL = "org.matrix.msc3381.poll.start"  # the type of the event, as clients know it today
_CHOICES = 20


def poll_content(poll: Poll) -> dict[str, Any]:
    """The content of an event that begins a poll, with its words for clients that know none."""

    def words(text: str) -> dict[str, str]:
        return {"org.matrix.msc1767.text": sound(text)}

    answers = [{"id": str(number), **words(choice)} for number, choice in enumerate(poll.choices[:_CHOICES], 1)]
    kind, most = "org.matrix.msc3381.poll.disclosed", len(answers) if poll.several else 1
    start = {"question": words(poll.question), "kind": kind, "max_selections": most, "answers": answers}
    return {**words(poll.text), POLL: start}


def location_content(place: Location) -> dict[str, Any]:
    """The content of an event that shows a place."""
    uri = f"geo:{place.latitude:.6f},{place.longitude:.6f}"
    about = {"uri": uri, **({"description": sound(place.title)} if place.title else {})}
    more = {"org.matrix.msc3488.location": about, "org.matrix.msc3488.asset": {"type": "m.pin"}}
    return {"msgtype": "m.location", "body": sound(place.text), "geo_uri": uri, "m.mentions": {}, **more}


def file_content(blob: Blob, name: str, size: int, place: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an event that carries a file. ``place`` is its ``url``, or its ``file`` where it is encrypted."""
    family = blob.media_type.partition("/")[0]
    kind = {"image": "m.image", "audio": "m.audio", "video": "m.video"}.get(family, "m.file")
    content: dict[str, Any] = {
        "msgtype": kind,
        "body": name,
        "filename": name,
        "info": {"mimetype": blob.media_type, "size": size},
        "m.mentions": {},
        **place,
    }
    if blob.media_type.partition(";")[0] in ("audio/ogg", "audio/opus"):  # what a voice message is on Matrix
        content |= {"org.matrix.msc3245.voice": {}, "org.matrix.msc1767.audio": {}}
    return content
