"""The platform ``matrix``."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from hermes_core.errors import NotSent
from hermes_core.kinds import Console, Platform
from hermes_core.types import Chat, Envelope, Event, Feature, Member, Message, Sent, Started
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.connection import Connection, connect
from hermes_platform_matrix.homeserver import Cut, Refused
from hermes_platform_matrix.outgoing import LIMIT
from hermes_platform_matrix.reader import Reader
from hermes_platform_matrix.receiver import Receiver
from hermes_platform_matrix.sender import Sender

__all__ = ["Matrix"]


class Matrix(Platform):
    """An account on a Matrix homeserver. ``folder`` keeps its login, its keys and how far was read."""

    name = "matrix"
    limit = LIMIT
    features = frozenset(
        {
            Feature.EDIT,
            Feature.DELETE,
            Feature.TYPING,
            Feature.LOCATIONS,
            Feature.MEDIA,
            Feature.LEAVE,
            Feature.MEMBERS,
            Feature.POLLS,
            Feature.THREADS,
            Feature.REACTIONS,
            Feature.VOICE,
            Feature.IDEMPOTENT,
        }
    )

    def __init__(self, config: Config, resolve: Callable[[str], str], folder: Path, log: logging.Logger) -> None:
        self._config, self._resolve, self._folder, self._log = config, resolve, folder, log
        self._connection: Connection | None = None
        self._receiver: Receiver | None = None
        self._sender: Sender | None = None
        self._listening: asyncio.Task[None] | None = None

    async def open(self, console: Console) -> None:
        """Log in and make encryption ready. Raises UserError for what only a person can mend; Refused, Cut."""
        await self.close()
        made = await connect(self._config, self._resolve, self._folder, self._log)
        reader = Reader(made, self._config, self._log)
        self._sender = Sender(made, reader.author)
        self._receiver = Receiver(made, self._config, reader, self._sender, self._log)
        self._connection, self.account = made, made.user

    async def receive(self) -> AsyncIterator[Envelope]:
        """Messages of all rooms, each at least until it is acknowledged. Raises as ``open``."""
        receiver = self._receiver
        if receiver is None:
            return
        self._listening = asyncio.create_task(receiver.listen())
        try:
            while (item := await receiver.inbox.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            await self._hush()

    async def ack(self, envelope: Envelope) -> None:
        """Move on over it, and show its sender that it came."""
        if self._receiver is not None:
            self._receiver.acknowledge(envelope)

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Send the text, then the files. The key becomes Matrix's transaction id."""
        return await self._open_sender().send(chat, message, key)

    async def edit(self, sent: Sent, message: Message) -> None:
        """Put another text in the place of a sent message."""
        await self._open_sender().edit(sent, message)

    async def delete(self, sent: Sent) -> None:
        """Take the text out of a sent message, for everybody; Matrix calls it a redaction."""
        await self._open_sender().delete(sent)

    async def leave(self, chat: Chat) -> None:
        """Leave a room."""
        await self._open_sender().leave(chat.id)

    async def react(self, chat: Chat, message_id: str, sign: str) -> None:
        """Put a sign on a message, in place of our last one."""
        await self._open_sender().react(chat.id, message_id, sign)

    async def make_thread(self, chat: Chat, name: str) -> Chat:
        """Begin a thread below a message that says what it is about."""
        return await self._open_sender().make_thread(chat, name)

    async def members(self, chat: Chat, sender: str = "") -> Sequence[Member]:
        """Who is in a room or invited there, or only ``sender``."""
        return await self._open_sender().members(chat, sender)

    async def show(self, chat: Chat, event: Event) -> None:
        """Show that an answer is being written."""
        if isinstance(event, Started) and self._sender is not None:
            try:
                await self._sender.typing(chat.id)
            except (Refused, Cut) as error:
                self._log.debug("matrix: typing was not shown: %s", error)

    async def close(self) -> None:
        """Stop listening and disconnect."""
        connection, receiver = self._connection, self._receiver
        self._connection = self._receiver = self._sender = None
        await self._hush()
        if receiver is not None:
            await receiver.stop()
        if connection is not None:
            await connection.close()

    async def _hush(self) -> None:
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    def _open_sender(self) -> Sender:
        if self._sender is None:
            raise NotSent("Matrix: the platform is not connected.")
        return self._sender
