"""Conversations of a person, as clients read them."""

import base64
from collections.abc import Mapping
from typing import Any

from hermes_core.errors import UserError
from hermes_core.types import JSON, Blob, Message, Session, SessionRow, Text, ToolCall, ToolResult
from hermes_platform_mcp_serve.desk import Desk

__all__ = ["attachments", "listed", "message_row", "messages", "one"]

_ROWS, _LISTED, _READ = 500, 50, 50
_WORDS = 20_000  # characters of one text
_LARGEST = 10_000_000  # bytes of the files of one message


async def listed(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``conversations_list``."""
    limit, origin, words = given.get("limit", _LISTED), given.get("platform", ""), given.get("search", "").strip()
    rows = await desk.ctx.sessions.rows(desk.owner, limit=_ROWS if words else limit, origin=origin)
    if words:
        hits = await desk.ctx.sessions.search(desk.owner, words, limit=200)
        found = {hit.session_id for hit in hits}
        rows = [one for one in rows if one.session.id in found or words.casefold() in one.session.title.casefold()]
    return desk.answer({"conversations": [_row(one) for one in rows[:limit]]})


async def one(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``conversation_get``."""
    session = await desk.ctx.sessions.get(desk.owner, given["session_key"])
    rows = await desk.ctx.sessions.rows(desk.owner, limit=_ROWS)
    row = next((found for found in rows if found.session.id == session.id), None)
    asked = await desk.ctx.sessions.asked_from(session.id, desk.owner)
    said: dict[str, JSON] = _row(row) if row else _session(session)
    if asked:
        said |= {"platform": asked.platform, "chat": asked.chat, "chat_name": asked.chat_name, "thread": asked.thread}
    return desk.answer(said)


async def messages(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``messages_read``."""
    limit, around = given.get("limit", _READ), given.get("around", 0)
    window = max(1, limit // 2) if around else limit
    found = await desk.ctx.sessions.read(desk.owner, given["session_key"], around=around, window=window)
    return desk.answer(
        {"session_key": given["session_key"], "messages": [message_row(number, said) for number, said in found]}
    )


async def attachments(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``attachments_fetch``."""
    from mcp_types import AudioContent, BlobResourceContents, EmbeddedResource, ImageContent

    number = given["message_id"]
    found = await desk.ctx.sessions.read(desk.owner, given["session_key"], around=number, window=1)
    message = next((said for at, said in found if at == number), None)
    if message is None:
        raise UserError(f"There is no message {number} in this conversation.", hint="messages_read says which.")
    rows: list[JSON] = []
    beside: list[Any] = []
    left = _LARGEST
    for place, blob in enumerate(_blobs(message)):
        data = blob.data
        row: dict[str, JSON] = {"name": blob.name, "media_type": blob.media_type, "fetched": False}
        rows.append(row)
        if data is None or len(data) > left:
            row["why"] = "it lies on the machine of Hermes" if data is None else "it is too large"
            continue
        left -= len(data)
        row["fetched"] = True
        held, kind = base64.b64encode(data).decode(), blob.media_type
        if kind.startswith("image/"):
            beside.append(ImageContent(type="image", data=held, mime_type=kind))
        elif kind.startswith("audio/"):
            beside.append(AudioContent(type="audio", data=held, mime_type=kind))
        else:
            uri = f"hermes://{given['session_key']}/{number}/{place}"
            contents = BlobResourceContents(uri=uri, mime_type=kind, blob=held)
            beside.append(EmbeddedResource(type="resource", resource=contents))
    return desk.answer({"attachments": rows}, *beside)


def _blobs(message: Message) -> list[Blob]:
    inner = [part for one in message.parts if isinstance(one, ToolResult) for part in one.parts]
    return [part for part in (*message.parts, *inner) if isinstance(part, Blob)]


def _session(session: Session) -> dict[str, JSON]:
    return {
        "session_key": session.id,
        "title": session.title,
        "platform": session.origin,
        "created_at": session.created,
        "model": session.model,
    }


def _row(row: SessionRow) -> dict[str, JSON]:
    more: dict[str, JSON] = {
        "updated_at": row.updated,
        "messages": row.messages,
        "preview": row.preview,
        "state": row.state,
    }
    return _session(row.session) | more


def message_row(number: int, message: Message) -> dict[str, JSON]:
    """Return a message as clients read it; ``untrusted`` says that it holds what comes from outside."""
    texts: list[str] = []
    calls: list[JSON] = []
    outside = message.untrusted
    for part in message.parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            calls.append({"tool": part.name, "call_id": part.id})
        elif isinstance(part, ToolResult):
            texts += [inner.text for inner in part.parts if isinstance(inner, Text)]
            outside = outside or part.untrusted
    text = "\n".join(texts)
    row: dict[str, JSON] = {"id": number, "role": message.role, "text": text[:_WORDS]}
    row |= {"cut": True} if len(text) > _WORDS else {}
    row |= {"calls": calls} if calls else {}
    row |= {"untrusted": True} if outside else {}
    if blobs := _blobs(message):
        row["attachments"] = [{"name": one.name, "media_type": one.media_type} for one in blobs]
    return row
