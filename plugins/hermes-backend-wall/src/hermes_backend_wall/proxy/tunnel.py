"""Bytes from one socket to the other and back, unread.

The first ones are copied, so that a short exchange costs no more than its bytes. What goes on for longer is moved
inside the system through a pipe (``splice``, Linux), which copies nothing. Both hold one bounded piece a direction: who
reads slowly slows down who sends.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress

__all__ = ["Moved", "relay"]

Moved = Callable[[int], None]  # told how many bytes went on

COPIED = 262_144  # bytes of a direction before it is spliced
_PIECE = 65_536
_PIPE = 1_048_576  # the most that a pipe may hold without privilege, as Linux comes


async def relay(near: socket.socket, far: socket.socket, up: Moved, down: Moved) -> None:
    """Pass on what comes until both sides have ended, each end in its turn. Raises OSError when a side breaks off."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on(near, far, up))
            group.create_task(_pass_on(far, near, down))
    except* OSError as group_of_errors:
        raise OSError(str(group_of_errors.exceptions[0])) from group_of_errors


async def _pass_on(source: socket.socket, sink: socket.socket, moved: Moved) -> None:
    loop = asyncio.get_running_loop()
    piece = memoryview(bytearray(_PIECE))
    copied = 0
    while count := await loop.sock_recv_into(source, piece):
        await loop.sock_sendall(sink, piece[:count])
        moved(count)
        copied += count
        if copied > COPIED and await _spliced(source, sink, moved):
            break
    with suppress(OSError):  # the other side is gone already
        sink.shutdown(socket.SHUT_WR)


async def _spliced(source: socket.socket, sink: socket.socket, moved: Moved) -> bool:
    """Pass on the rest through a pipe; False where the system has none to give."""
    if not hasattr(os, "splice"):
        return False
    try:
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return False
        raise
    try:
        _widen(writing)
        while count := await _splice(source.fileno(), writing, _PIPE, source=True):
            left = count
            while left:
                left -= await _splice(reading, sink.fileno(), left, source=False)
            moved(count)
            await asyncio.sleep(0)  # others on the loop have their turn
    finally:
        os.close(reading)
        os.close(writing)
    return True


def _widen(pipe: int) -> None:
    import fcntl

    with suppress(OSError):  # the person has used up what they may have of pipes; a small one does
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


async def _splice(one: int, other: int, most: int, *, source: bool) -> int:
    """Move up to ``most`` bytes as soon as the socket, which is ``one`` if it is the source, is ready."""
    while True:
        try:
            return os.splice(one, other, most, flags=os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK)
        except BlockingIOError:
            await _ready(one if source else other, reading=source)


async def _ready(fd: int, *, reading: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    (loop.add_reader if reading else loop.add_writer)(fd, wake)
    try:
        await ready
    finally:
        (loop.remove_reader if reading else loop.remove_writer)(fd)
