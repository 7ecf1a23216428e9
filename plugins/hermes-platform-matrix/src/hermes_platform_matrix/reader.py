"""Makes envelopes of events: decrypts, fetches files and quotes, and says of each whether it speaks to us."""

import logging
from collections.abc import Mapping
from typing import Any, Literal

from hermes_core.types import Blob, Envelope, Message
from hermes_core.values import frozen
from hermes_platform_kit.peers import BOT, PEER, named_in
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.connection import Connection
from hermes_platform_matrix.e2ee.machine import NoKey, Plain, Unreadable
from hermes_platform_matrix.homeserver import Refused, path
from hermes_platform_matrix.incoming import (
    addresses,
    by_bot,
    parts,
    plain,
    quotes,
    read,
    replied_to,
    thread_of,
    without_name,
)
from hermes_platform_matrix.media import NoFile
from hermes_platform_matrix.rooms import Room

__all__ = ["Locked", "Reader"]

_QUOTE = 2000  # characters
_REMEMBERED = 500  # who wrote an event, for replies


@frozen(kw_only=True)
class Locked:
    """An event that cannot be read. ``session`` names the key that is missing, if that is why."""

    room: str
    event: Mapping[str, Any]
    session: str = ""
    why: str = ""


class Reader:
    """Reads events for one account."""

    def __init__(self, connection: Connection, config: Config, log: logging.Logger) -> None:
        self._server, self._store, self._rooms = connection.server, connection.store, connection.rooms
        self._machine, self._media = connection.machine, connection.media
        self._me, self._names, self._config, self._log = connection.user, connection.names, config, log
        self._authors: dict[str, str] = {}
        self._bots: set[str] = set()  # rooms in which a bot was heard, and no person since

    def author(self, event_id: str) -> str:
        """Who wrote an event that came in lately, or an empty string."""
        return self._authors.get(event_id, "")

    async def read(self, room_id: str, event: Mapping[str, Any]) -> Envelope | Locked | None:
        """The envelope of an event; None when it says nothing to us. Raises Refused, Cut when asking on fails."""
        sender, event_id, content = event.get("sender"), event.get("event_id"), event.get("content")
        if not isinstance(sender, str) or not isinstance(event_id, str) or not isinstance(content, Mapping):
            return None
        if sender == self._me or "state_key" in event or not content:
            return None
        kind = str(event.get("type"))
        outer = content
        if kind == "m.room.encrypted":
            try:
                plain = await self._opened(room_id, event)
            except NoKey as missing:
                return Locked(room=room_id, event=event, session=missing.session)
            except Unreadable as error:
                return Locked(room=room_id, event=event, why=str(error))
            kind, content = plain.type, plain.content
            if "m.relates_to" in outer:
                content = {**content, "m.relates_to": outer["m.relates_to"]}
        return await self._envelope(await self._rooms.get(room_id), kind, content, sender, event_id)

    async def _opened(self, room_id: str, event: Mapping[str, Any]) -> Plain:
        if self._machine is None:
            raise Unreadable("encryption is switched off here")
        return await self._machine.decrypt(room_id, event)

    async def _envelope(
        self, room: Room, kind: str, content: Mapping[str, Any], sender: str, event_id: str
    ) -> Envelope | None:
        said = read(kind, content)
        if said is None:
            return None
        self._remember(event_id, sender)
        answered, thread = replied_to(content), thread_of(content)
        author, quote = await self._quoted(room.id, answered) if answered else ("", "")
        chat_kind: Literal["dm", "group"] = "dm" if room.is_dm else "group"
        names = (*self._names, room.people.get(self._me, ""))
        peer = sender in self._config.peers and not room.is_dm
        if peer and not named_in(said.text, (self._me, *(f"@{name}" for name in names if name))):
            return None  # an answer to us names us by itself; that alone is not meant
        named = addresses(content, said.text, self._me, names)
        if not peer and not self._may_be_heard(room.id, content, named=named, to=author):
            return None
        addressed = (
            room.is_dm or author == self._me or peer or named or bool(thread and self._store.get("threads", thread))
        )
        threads = self._config.dm_auto_thread if room.is_dm else self._config.auto_thread
        if not thread and addressed and threads:
            thread = event_id
        text = without_name(said.text, self._me, names) if addressed else said.text
        blob, note = await self._file(content) if said.file else (None, "")
        said = type(said)(text=text, file=said.file)
        return Envelope(
            platform="matrix",
            account=self._me,
            event_id=event_id,
            chat=room.id,
            sender=sender,
            message=Message(role="user", parts=parts(said, blob, note), untrusted=quotes(content) or peer),
            roles=(PEER,) if peer else (BOT,) if by_bot(content) else (),
            thread=thread,
            kind=chat_kind,
            addressed=addressed,
            sender_name=room.name_of(sender),
            chat_name=room.name,
            message_id=event_id,
            quote=quote,
            quote_by=author,
        )

    def _may_be_heard(self, room: str, content: Mapping[str, Any], *, named: bool, to: str) -> bool:
        """Whether somebody may be heard: a person always, a bot that names us of its own accord, once.

        Its answer ``to`` us is none, and after it a person has to speak: so no two bots talk to each other for ever.
        """
        if not by_bot(content):
            self._bots.discard(room)
            return True
        heard = named and to != self._me and room not in self._bots
        if heard:
            self._bots.add(room)
        return heard

    async def _file(self, content: Mapping[str, Any]) -> tuple[Blob | None, str]:
        try:
            return await self._media.fetch(content), ""
        except NoFile as error:
            name = plain(content.get("filename") or content.get("body"))[:100]
            self._log.warning("matrix: a file was not fetched: %s", error)
            return None, f"[the file {name} could not be fetched: {plain(error)}]"

    async def _quoted(self, room_id: str, event_id: str) -> tuple[str, str]:
        """Who wrote an event, nobody where others are quoted in it, and what it says as far as it can be read."""
        try:
            event = await self._server.ask("GET", path("v3", "rooms", room_id, "event", event_id))
            author, kind, content = str(event.get("sender", "")), str(event.get("type")), event.get("content")
            if kind == "m.room.encrypted":
                plain = await self._opened(room_id, event)
                kind, content = plain.type, plain.content
        except Refused as refused:
            if refused.limited or refused.status >= 500:
                raise
            return "", ""
        except Unreadable:  # what we wrote ourselves among it: its author is told all the same
            return author, ""
        if not isinstance(content, Mapping) or (said := read(kind, content)) is None:
            return author, ""
        return "" if quotes(content) and author != self._me else author, said.text[:_QUOTE]

    def _remember(self, event_id: str, author: str) -> None:
        while len(self._authors) >= _REMEMBERED:
            del self._authors[next(iter(self._authors))]
        self._authors[event_id] = author
