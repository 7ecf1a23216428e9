"""Messages over one pipe into which two processes write: as short lines, which the system never mixes.

What a pipe takes in one piece is written by nobody else in between, up to 4,096 bytes (POSIX asks for 512, Linux gives
4,096). So a message is cut into lines below that; each says who wrote it and whether more comes.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Lines", "Unreadable"]

LINE = 4_096  # bytes of a line; what is longer is none of ours
LARGEST = 16_000_000  # bytes of one message
NOISE = 4_000  # bytes that others may say there, such as a wall that tells what it put back


class Unreadable(Exception):
    """Somebody wrote into the pipe what is no message, and much of it."""


class Lines:
    """Takes what comes out of the pipe, in whatever pieces; gives the messages. ``noise`` is what was none."""

    def __init__(self) -> None:
        self._rest = b""
        self._parts: dict[int, list[bytes]] = {}
        self._sizes: dict[int, int] = {}
        self._noise = bytearray()

    @property
    def noise(self) -> str:
        """What was said beside the messages."""
        return bytes(self._noise).decode("utf-8", "replace").strip()

    def feed(self, data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Give each whole message with its writer, ``p`` or ``w``. Raises Unreadable."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest
        if len(rest) > LINE:
            self._strange(rest)
            self._rest = b""
        for line in lines:
            if len(line) < 2 or line[0] not in b"pw" or line[1] not in b"+." or len(line) > LINE:
                self._strange(line)
                continue
            message = self._joined(line)
            if message is not None:
                yield chr(line[0]), message

    def _joined(self, line: bytes) -> Mapping[str, Any] | None:
        who = line[0]
        parts = self._parts.setdefault(who, [])
        parts.append(line[2:])
        self._sizes[who] = self._sizes.get(who, 0) + len(line)
        if self._sizes[who] > LARGEST:
            raise Unreadable("a message without an end")
        if line[1:2] == b"+":
            return None
        whole = b"".join(parts)
        self._parts[who], self._sizes[who] = [], 0
        try:
            message = json.loads(whole)
        except (ValueError, RecursionError):
            self._strange(line)
            return None
        if not isinstance(message, dict):
            self._strange(line)
            return None
        return message

    def _strange(self, line: bytes) -> None:
        self._noise += line + b"\n"
        if len(self._noise) > NOISE:
            del self._noise[NOISE:]
            raise Unreadable("what is no message")
