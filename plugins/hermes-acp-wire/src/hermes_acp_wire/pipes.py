"""The standard streams of this process as a connection, of which nothing else that runs here sees anything."""

import asyncio
import os
import sys

from hermes_acp_wire.peer import LARGEST

__all__ = ["take_pipes"]


async def take_pipes() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Take standard input and output for a connection.

    What anybody prints here from now on goes to standard error, and who reads here finds nothing: a stray word between
    two messages would end the conversation. Raises OSError and ValueError where they are no pipes.
    """
    sys.stdout.flush()
    into, out = os.dup(0), os.dup(1)
    os.set_inheritable(into, False)
    os.set_inheritable(out, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LARGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(into, "rb", buffering=0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(out, "wb", buffering=0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
