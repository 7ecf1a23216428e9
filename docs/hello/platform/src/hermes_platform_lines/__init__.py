"""Talks over standard input and output, one line per message."""

import asyncio
import sys
from uuid import uuid4

from hermes_core import Platform, hookimpl
from hermes_core.types import Envelope, Message, Text


class Lines(Platform):
    name = "lines"

    async def open(self, console):
        self.lines = asyncio.StreamReader()
        self.pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.lines), sys.stdin
        )

    async def receive(self):
        async for line in self.lines:
            said = Message(role="user", parts=(Text(text=line.decode().strip()),))
            yield Envelope(platform="lines", account="tty", event_id=uuid4().hex, chat="tty", sender="me", message=said)

    async def send(self, chat, message, key):
        print(*(part.text for part in message.parts if isinstance(part, Text)), flush=True)

    async def close(self):
        self.pipe.close()


@hookimpl
def register_platforms():
    return [Lines()]
