"""From updates to envelopes: files fetched, albums joined, each chat in its order and none waiting for another."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from attrs import evolve, field

from hermes_core.types import JSON, Blob, Envelope, Message, Text
from hermes_core.values import frozen
from hermes_platform_kit.peers import BOT, PEER
from hermes_platform_telegram.albums import Albums
from hermes_platform_telegram.media import Media
from hermes_platform_telegram.pending import Pending
from hermes_platform_telegram.updates import Incoming, Me, read_message, read_update

__all__ = ["Inbound"]

_NONSENSE = (KeyError, TypeError, ValueError, AttributeError)


@frozen
class _Origin:
    """What is to be done when the kernel has stored an envelope."""

    number: int = 0  # the update
    album: str = ""  # the key of the group
    press: str = ""  # the query of a pressed button


@frozen
class Inbound:
    """Takes updates and puts envelopes, or the error that ended it all, into ``ready``."""

    me: Me
    media: Media
    albums: Albums
    pending: Pending
    log: logging.Logger
    quiet: float  # seconds without a further part, after which an album is whole
    ready: "asyncio.Queue[Envelope | Exception | None]" = field(factory=asyncio.Queue, init=False)
    _origins: dict[str, _Origin] = field(factory=dict, init=False)
    _last: dict[str, "asyncio.Task[None]"] = field(factory=dict, init=False)  # by chat: what its next message waits for
    _growing: dict[str, tuple[str, asyncio.TimerHandle]] = field(
        factory=dict, init=False
    )  # by chat: the group still open
    _tasks: "set[asyncio.Task[None]]" = field(factory=set, init=False)
    _bots: set[str] = field(factory=set, init=False)  # chats in which a bot was heard, and no person since

    def recover(self) -> None:
        """Take up albums that a killed process left. To one that is still open parts may come."""
        for key, closed in self.albums.unfinished(f"{self.me.id}:"):
            chat = key.split(":")[1]
            if closed or chat in self._growing:
                self._whole(key)
            else:
                self._await(chat, key)

    def take(self, update: Mapping[str, JSON]) -> None:
        """Take an update, unless it is known already. What makes no sense is noted and done with.

        Raises KeyError, TypeError and ValueError for one without a number, OSError when a part cannot be kept.
        """
        number = int(update["update_id"])
        if not self.pending.begin(number):
            return
        try:
            incoming = read_update(update, self.me)
        except _NONSENSE as error:
            self.log.warning("An update (%d) could not be read: %r", number, error)
            incoming = None
        if incoming is None or not self._turn_of(incoming):
            self.pending.finish(number)
        elif incoming.album:
            self._part(number, incoming, update.get("message") or update["channel_post"])
        else:
            self._flush(incoming.chat)
            self._queue(incoming, _Origin(number=number, press=incoming.press))

    def _turn_of(self, incoming: Incoming) -> bool:
        """Whether somebody may be heard: of bots one, until a person speaks. So no two talk to each other for ever."""
        if incoming.peer:  # how often they are answered is decided elsewhere
            return True
        spoke = incoming.chat in self._bots
        (self._bots.add if incoming.bot else self._bots.discard)(incoming.chat)
        return not (incoming.bot and spoke)

    def stored(self, event_id: str) -> str:
        """The kernel has it; the id of the query that waits for an answer, if it was a press."""
        origin = self._origins.pop(event_id, _Origin())
        if origin.album:
            self.albums.done(origin.album)
        elif origin.number:
            self.pending.finish(origin.number)
        return origin.press

    async def stop(self) -> None:
        """End what still runs."""
        for _, timer in self._growing.values():
            timer.cancel()
        self._growing.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _part(self, number: int, incoming: Incoming, message: Mapping[str, JSON]) -> None:
        album = f"{self.me.id}:{incoming.chat}:{incoming.album}"
        here = self._growing.get(incoming.chat)
        if here and here[0].rpartition("#")[0] != album:
            self._flush(incoming.chat)
        try:
            key = self.albums.add(album, number, message)
        except OSError:
            self.pending.give_up(number)
            raise
        self.pending.finish(number)  # it is written down here
        if key:
            self._await(incoming.chat, key)

    def _await(self, chat: str, key: str) -> None:
        if chat in self._growing:
            self._growing[chat][1].cancel()
        self._growing[chat] = (key, asyncio.get_running_loop().call_later(self.quiet, self._over, chat))

    def _over(self, chat: str) -> None:
        """No further part came in time."""
        try:
            self._flush(chat)
        except OSError as error:  # opened again, it is taken up again
            self.ready.put_nowait(error)

    def _flush(self, chat: str) -> None:
        """The album of this chat is whole: time is over, or something else came after it."""
        if chat in self._growing:
            key, timer = self._growing.pop(chat)
            timer.cancel()
            self._whole(key)

    def _whole(self, key: str) -> None:
        parts = []
        for number, message in self.albums.close(key):
            with suppress(*_NONSENSE):  # it was read once
                parts.append(read_message(number, message, self.me))
        found = [part for part in parts if part]
        if not found:
            self.albums.done(key)
            return
        whole = evolve(
            found[0],
            text="\n".join(p.text for p in found if p.text),
            files=[file for p in found for file in p.files],
            addressed=any(p.addressed for p in found),
            quote=next((p.quote for p in found if p.quote), ""),
            quote_by=next((p.quote_by for p in found if p.quote), ""),
            forwarded=any(p.forwarded for p in found),
        )
        self._queue(whole, _Origin(album=key))

    def _queue(self, incoming: Incoming, origin: _Origin) -> None:
        """Make the envelope when all before it in its chat are made."""
        self._origins[incoming.event_id] = origin
        before = self._last.get(incoming.chat)
        if before is None and not incoming.files:
            self.ready.put_nowait(_envelope(incoming, self.me, []))
            return
        task = asyncio.ensure_future(self._prepare(incoming, before))
        self._last[incoming.chat] = task
        self._tasks.add(task)

        def over(ended: "asyncio.Task[None]") -> None:
            self._tasks.discard(ended)
            if self._last.get(incoming.chat) is ended:
                del self._last[incoming.chat]
            if not ended.cancelled() and (error := ended.exception()):  # opened again, it comes again
                self.ready.put_nowait(error if isinstance(error, Exception) else RuntimeError(repr(error)))

        task.add_done_callback(over)

    async def _prepare(self, incoming: Incoming, before: "asyncio.Task[None] | None") -> None:
        files = [await self.media.fetch(incoming, file) for file in incoming.files]
        if before:
            await asyncio.wait([before])
        self.ready.put_nowait(_envelope(incoming, self.me, files))


def _envelope(incoming: Incoming, me: Me, files: list[Blob | Text]) -> Envelope:
    text = [Text(text=incoming.text)] if incoming.text else []
    return Envelope(
        platform="telegram",
        account=me.username,
        event_id=incoming.event_id,
        chat=incoming.chat,
        thread=incoming.thread,
        sender=incoming.sender,
        sender_name=incoming.sender_name,
        chat_name=incoming.chat_name,
        message_id=incoming.message_id,
        kind=incoming.kind,
        what="press" if incoming.press else "removed" if incoming.removed else "message",
        addressed=incoming.addressed,
        quote=incoming.quote,
        quote_by=incoming.quote_by,
        roles=(PEER,) if incoming.peer else (BOT,) if incoming.bot else (),
        message=Message(role="user", parts=[*text, *files], untrusted=incoming.forwarded or incoming.peer),
    )
