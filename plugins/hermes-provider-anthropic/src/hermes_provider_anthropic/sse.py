"""Server-sent events, from bytes to JSON objects. Nothing in here waits."""

import json
from collections.abc import Mapping

from hermes_core.types import JSON

__all__ = ["BrokenEvent", "EventReader"]

LIMIT = 64 * 1024 * 1024  # bytes of one event, roughly; more is not a model's reply
BOM = b"\xef\xbb\xbf"


class BrokenEvent(ValueError):
    """An event that looks like JSON and is none; ``payload`` is its text."""

    def __init__(self, payload: str) -> None:
        super().__init__(payload)
        self.payload = payload


class EventReader:
    """Turns the bytes of one stream, cut anywhere, into its events.

    An event that does not say its ``type`` gets the one from its ``event:`` line, as some proxies drop the former.
    """

    def __init__(self) -> None:
        self._tail = bytearray()
        self._begun = False
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[Mapping[str, JSON]]:
        """The events that are whole with these bytes. Raises BrokenEvent."""
        tail = self._tail
        start = max(len(tail) - 1, 0)
        tail += piece
        if not self._begun:
            if len(tail) < len(BOM) and BOM.startswith(tail):
                return []
            self._begun = True
            if tail.startswith(BOM):
                del tail[: len(BOM)]
            start = 0
        cut = max(tail.rfind(b"\n", start), tail.rfind(b"\r", start, -1))
        if cut < 0:
            if len(tail) > LIMIT:
                raise BrokenEvent(tail[:200].decode(errors="replace"))
            return []
        block = tail[: cut + 1]
        del tail[: cut + 1]
        return self._read(block)

    def end(self) -> list[Mapping[str, JSON]]:
        """The events in what is left when the stream ends without a blank line. Raises BrokenEvent."""
        block = self._tail + b"\n\n"
        self._tail = bytearray()
        return self._read(block)

    def _read(self, block: bytearray) -> list[Mapping[str, JSON]]:
        text = block.decode("utf-8", "replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        found: list[Mapping[str, JSON]] = []
        for line in text.split("\n")[:-1]:
            if line.startswith("data:"):
                self._data.append(line[5:].strip())
                self._size += len(line)
                if self._size > LIMIT:
                    raise BrokenEvent(self._data[0][:200])
            elif not line:
                self._finish(found)
            elif line.startswith("event:"):
                if self._data:  # a server that forgets the blank line
                    self._finish(found)
                self._name = line[6:].strip()
        return found

    def _finish(self, found: list[Mapping[str, JSON]]) -> None:
        name, lines = self._name, self._data
        self._name, self._data, self._size = "", [], 0
        payload = "\n".join(filter(None, lines))
        if not payload or payload == "[DONE]":
            return
        try:
            event = json.loads(payload)
        except (ValueError, RecursionError):
            if payload[0] in "{[":
                raise BrokenEvent(payload) from None
            return  # "ping", "keep-alive" and the like
        if isinstance(event, dict):
            found.append(event if "type" in event or not name else {**event, "type": name})
