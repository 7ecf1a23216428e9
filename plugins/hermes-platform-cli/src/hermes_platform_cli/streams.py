"""Standard input and output, as they really are: closed pipes, odd encodings, files."""

import asyncio
import codecs
import contextlib
import io
import os
import sys
from collections import deque
from collections.abc import Mapping
from typing import TextIO

from attrs import Factory

from hermes_core.values import frozen

__all__ = ["Lines", "Sink", "Streams"]


@frozen(kw_only=True)
class Streams:
    """The three streams and the environment of a conversation."""

    stdin: TextIO = Factory(lambda: sys.stdin)
    stdout: TextIO = Factory(lambda: sys.stdout)
    stderr: TextIO = Factory(lambda: sys.stderr)
    environ: Mapping[str, str] = Factory(lambda: os.environ)

    @property
    def rich(self) -> bool:
        """Whether a person sits at a terminal that understands control codes and wants them."""
        plain = self.environ.get("TERM", "") in ("dumb", "") or self.environ.get("NO_COLOR")
        return not plain and is_terminal(self.stdin) and is_terminal(self.stdout)


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal; a closed one is not."""
    try:
        return stream.isatty()
    except (ValueError, AttributeError):
        return False


class Sink:
    """Writes to a stream. ``gone`` says that nobody reads any more; then writing is quiet."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.gone = False
        self.terminal = is_terminal(stream)

    def write(self, text: str) -> None:
        """Write and flush. What the encoding of the stream lacks becomes a question mark."""
        if self.gone or not text:
            return
        try:
            try:
                self._stream.write(text)
            except UnicodeEncodeError:
                encoding = self._stream.encoding or "ascii"
                self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):
            self.gone = True
            self._point_nowhere()

    def _point_nowhere(self) -> None:
        # Python flushes once more at its end, and would complain there about the closed pipe.
        with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


class Lines:
    """Lines of a stream, without a thread that could outlive us and without holding up the loop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ready: deque[str] = deque()
        self._pieces: list[str] = []
        self._ended = self._closed = False
        self._readable = asyncio.Event()
        try:
            self._fd: int | None = stream.fileno()
        except (OSError, ValueError, AttributeError):
            self._fd = None

    async def next(self) -> str | None:
        """The next line without its end; None after the last one."""
        while not self._ready:
            if self._ended:
                return None
            if self._fd is None:
                line = self._stream.readline()
                self._ended = not line
                if line:
                    self._ready.append(line.rstrip("\r\n"))
                continue
            self._take(await self._read(self._fd))
        return self._ready.popleft()

    def close(self) -> None:
        """Nobody wants another line; who waits for one gets None."""
        self._ended = self._closed = True
        self._ready.clear()
        self._readable.set()

    async def _read(self, fd: int) -> bytes:
        loop = asyncio.get_running_loop()
        self._readable.clear()
        try:
            loop.add_reader(fd, self._readable.set)
        except (PermissionError, ValueError):
            return self._now(fd)  # a plain file never waits
        try:
            await self._readable.wait()
        finally:
            loop.remove_reader(fd)
        return b"" if self._closed else self._now(fd)

    def _now(self, fd: int) -> bytes:
        try:
            return os.read(fd, 65536)
        except OSError:
            return b""

    def _take(self, data: bytes) -> None:
        self._ended = not data
        text = self._decoder.decode(data, final=self._ended)
        *lines, rest = text.split("\n")
        for line in lines:
            self._ready.append("".join([*self._pieces, line]).rstrip("\r"))
            self._pieces = []
        if rest:
            self._pieces.append(rest)
        if self._ended and self._pieces:
            self._ready.append("".join(self._pieces).rstrip("\r"))
            self._pieces = []
