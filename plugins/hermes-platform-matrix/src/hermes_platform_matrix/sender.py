"""Puts messages, edits and signs into rooms. A send that is repeated with its key is one event."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from attrs import evolve

from hermes_core.errors import DeliveryError, HermesError, NotSent, Undeliverable, UserError
from hermes_core.types import Blob, Chat, Location, Member, Message, Poll, Sent, Text
from hermes_platform_matrix.connection import Connection
from hermes_platform_matrix.e2ee.machine import Unreadable
from hermes_platform_matrix.homeserver import Cut, Refused, path
from hermes_platform_matrix.incoming import AUTOMATED
from hermes_platform_matrix.outgoing import (
    POLL,
    edited,
    file_content,
    location_content,
    poll_content,
    related,
    text_contents,
    text_of,
)
from hermes_platform_matrix.rooms import Room

__all__ = ["Sender", "delivery_error"]


def delivery_error(error: Exception) -> HermesError:
    """What a failed request means for a message."""
    if isinstance(error, Cut):
        return DeliveryError(str(error)) if error.asked else NotSent(str(error))
    if isinstance(error, Refused):
        if error.limited:
            return NotSent(str(error), retry_after=error.retry_after, everywhere=True)
        if error.unknown_token:  # who receives notices it too, and has it mended
            return NotSent(str(error), everywhere=True)
        if error.status >= 500 or error.status < 300:
            return DeliveryError(str(error))
    return Undeliverable(str(error))


class Sender:
    """Sends for one account. ``author`` tells who wrote an event, if that is known."""

    def __init__(self, connection: Connection, author: Callable[[str], str]) -> None:
        self._connection, self._author = connection, author
        self._typing: set[str] = set()

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Send the text and then the files of a message. Raises as Platform.send, UserError when it is too long."""
        text = text_of(message)
        blobs = [p for p in message.parts if isinstance(p, Blob)]
        try:
            room = await self._connection.rooms.get(chat.id)
            contents = [("m.room.message", one) for one in text_contents(text)] if text.strip() else []
            for blob in blobs:  # stored first: what cannot be is found out before anything is seen
                name, size, place = await self._connection.media.put(blob, encrypted=room.encryption is not None)
                contents.append(("m.room.message", file_content(blob, name, size, place)))
            for part in message.parts:
                if isinstance(part, Poll):
                    contents.append((POLL, poll_content(part)))
                elif isinstance(part, Location):
                    contents.append(("m.room.message", location_content(part)))
            if not contents:
                return None
            mark = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]
            author = self._author(chat.reply_to)
            ids = []
            for number, (kind, content) in enumerate(contents):
                placed = related(content, chat, first=number == 0, author=author)
                ids.append(await self._put(room, kind, placed, f"hermes-{mark}-{number}"))
        except (Refused, Cut, Unreadable) as error:
            raise delivery_error(error) from error
        if chat.thread:
            self._connection.store.put("threads", chat.thread, True)
        await self._stop_typing(chat.id)
        return Sent(chat=chat.id, message_id=ids[0])

    async def make_thread(self, chat: Chat, name: str) -> Chat:
        """Say what a thread is about; what is sent to it stands below. Raises as Platform.make_thread."""
        if chat.thread:
            raise UserError("Matrix has no threads in threads.")
        sent = await self.send(chat, Message(role="assistant", parts=(Text(text=name.strip() or "…"),)), uuid4().hex)
        assert sent is not None, "a text was sent, and there is none"
        self._connection.store.put("threads", sent.message_id, True)
        return Chat(chat.id, sent.message_id)

    async def members(self, chat: Chat, sender: str) -> Sequence[Member]:
        """The people of a room; of one only, if they are there. Raises as Platform.members."""
        try:
            room = await self._connection.rooms.get(chat.id)
            admins = await self._connection.rooms.admins(chat.id)
        except (Refused, Cut) as error:
            raise delivery_error(error) from error
        people = [user for user in room.people if sender in ("", user)]
        return [Member(id=user, name=room.people[user], admin=user in admins) for user in people]

    async def edit(self, sent: Sent, message: Message) -> None:
        """Put another text in the place of a message. Raises as Platform.edit, UserError when it is too long."""
        text = text_of(message)
        if not text.strip():
            return
        content = edited(list(text_contents(text)), sent.message_id)
        try:
            room = await self._connection.rooms.get(sent.chat)
            await self._put(room, "m.room.message", content, f"hermes-{uuid4().hex}")
        except (Refused, Cut, Unreadable) as error:
            raise delivery_error(error) from error

    async def delete(self, sent: Sent) -> None:
        """Redact a message. One that is not there is no error. Raises as Platform.delete."""
        mark = hashlib.sha256(sent.message_id.encode()).hexdigest()[:40]
        where = path("v3", "rooms", sent.chat, "redact", sent.message_id, f"hermes-{mark}-gone")
        try:
            await self._connection.server.ask("PUT", where, {})
        except Refused as refused:
            if refused.status != 404:
                raise delivery_error(refused) from refused
        except Cut as error:
            raise delivery_error(error) from error

    async def leave(self, room_id: str) -> None:
        """Leave a room. One that the account is not in any more is no error. Raises as Platform.send."""
        try:
            await self._connection.server.ask("POST", path("v3", "rooms", room_id, "leave"), {})
        except Refused as refused:
            if refused.status not in (403, 404):
                raise delivery_error(refused) from refused
        except Cut as error:
            raise delivery_error(error) from error

    async def react(self, room_id: str, event_id: str, sign: str) -> None:
        """Put a sign on an event, in place of our last one; an empty one takes it away. Raises as Platform.react."""
        server, store = self._connection.server, self._connection.store
        last = store.get("reactions", event_id) or {}
        if last.get("sign", "") == sign:
            return
        try:
            if last:
                where = path("v3", "rooms", room_id, "redact", last["id"], f"hermes-{uuid4().hex}")
                await server.ask("PUT", where, {})
                store.drop("reactions", event_id)
            if sign:
                relation = {"rel_type": "m.annotation", "event_id": event_id, "key": sign}
                where = path("v3", "rooms", room_id, "send", "m.reaction", f"hermes-{uuid4().hex}")
                answer = await server.ask("PUT", where, {"m.relates_to": relation})
                store.put("reactions", event_id, {"id": answer["event_id"], "sign": sign})
        except Refused as refused:
            if refused.code != "M_DUPLICATE_ANNOTATION":  # it is there, from before we were stopped
                raise delivery_error(refused) from refused
        except Cut as error:
            raise delivery_error(error) from error

    async def notice(self, room_id: str, text: str, key: str) -> None:
        """A word of the platform itself. Raises Refused, Cut, Unreadable."""
        room = await self._connection.rooms.get(room_id)
        if self._connection.machine is None:  # that we read nothing here is no secret
            room = evolve(room, encryption=None)
        content = {"msgtype": "m.notice", "body": text, "m.mentions": {}}
        mark = hashlib.sha256(key.encode()).hexdigest()[:40]
        await self._put(room, "m.room.message", content, f"hermes-{mark}-notice")

    async def typing(self, room_id: str) -> None:
        """Show for a while that an answer is being written. Raises Refused, Cut."""
        self._typing.add(room_id)
        await self._type(room_id, {"typing": True, "timeout": 20_000})

    async def _stop_typing(self, room_id: str) -> None:
        if room_id in self._typing:
            self._typing.discard(room_id)
            try:
                await self._type(room_id, {"typing": False})
            except (Refused, Cut):  # it ends by itself
                return

    async def _type(self, room_id: str, body: Mapping[str, Any]) -> None:
        where = path("v3", "rooms", room_id, "typing", self._connection.user)
        await self._connection.server.ask("PUT", where, body, seconds=5.0)

    async def _put(self, room: Room, kind: str, content: Mapping[str, Any], transaction: str) -> str:
        content = {**content, AUTOMATED: True}
        if room.encryption is not None:
            machine = self._connection.machine
            if machine is None:
                raise Unreadable("Matrix: the room is encrypted, and encryption is switched off here.")
            content = await machine.encrypt(room.id, room.people, room.encryption, kind, content)
            kind = "m.room.encrypted"
        where = path("v3", "rooms", room.id, "send", kind, transaction)
        answer = await self._connection.server.ask("PUT", where, content)
        return str(answer.get("event_id", ""))
