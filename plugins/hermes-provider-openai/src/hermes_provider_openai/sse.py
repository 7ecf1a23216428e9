"""Server-sent events, from bytes to JSON values: fast for what everybody sends, patient with what some send.

Events end at a blank line, so whole network chunks are cut there and parsed at once. Nothing in here waits.
"""

import json

from hermes_core.types import JSON

__all__ = ["DONE", "BrokenEvent", "EventReader"]

DONE = object()  # the ``[DONE]`` marker among parsed events
LIMIT = 64 * 1024 * 1024  # bytes of one event; more is not a model's reply
BOM = b"\xef\xbb\xbf"


class BrokenEvent(ValueError):
    """An event that looks like JSON and is none; ``payload`` is its text."""

    def __init__(self, payload: str) -> None:
        super().__init__(payload)
        self.payload = payload


class EventReader:
    """Turns the bytes of one stream, cut anywhere, into its events. ``odd`` keeps the last payload without meaning."""

    def __init__(self) -> None:
        self.odd = ""
        self.total = 0
        self._tail = bytearray()
        self._carriage = False

    def feed(self, data: bytes) -> list[JSON]:
        """The events that are whole with these bytes. Raises BrokenEvent."""
        if not self.total:
            self._tail += data
            if len(self._tail) < len(BOM) and BOM.startswith(self._tail):
                return []
            data = bytes(self._tail.removeprefix(BOM))
            self._tail.clear()
        self.total += len(data)
        if self._carriage or b"\r" in data:
            data = self._plain_newlines(data)
        tail = self._tail
        start = max(len(tail) - 1, 0)
        tail += data
        cut = tail.rfind(b"\n\n", start)
        if cut < 0:
            if len(tail) > LIMIT:
                raise BrokenEvent(tail[:200].decode(errors="replace"))
            return []
        block = tail[:cut].decode("utf-8", "replace")
        del tail[: cut + 2]
        return self._parse_block(block)

    def end(self) -> list[JSON]:
        """The events in what is left when the stream ends without a blank line. Raises BrokenEvent."""
        rest = self._tail.decode("utf-8", "replace")
        self._tail.clear()
        return self._parse_block(rest)

    def rest(self) -> str:
        """What was read and is not yet part of an event."""
        return self._tail.decode("utf-8", "replace")

    def _plain_newlines(self, data: bytes) -> bytes:
        if self._carriage:
            data = b"\r" + data
        self._carriage = data.endswith(b"\r")
        if self._carriage:
            data = data[:-1]
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _parse_block(self, block: str) -> list[JSON]:
        # One json.loads for the whole block. A JSON text holds no raw newline, so the separator cannot be inside one;
        # anything but plain one-line data events fails to parse here and is read with care below.
        if block.startswith("data: {"):
            separators = block.count("\n\ndata: ")
            try:
                events: list[JSON] = json.loads("[" + block[6:].replace("\n\ndata: ", ",") + "]")
            except (ValueError, RecursionError):
                pass
            else:
                if len(events) == separators + 1:
                    return events
        parsed: list[JSON] = []
        for event in block.split("\n\n"):
            self._parse_event(event, parsed)
        return parsed

    def _parse_event(self, event: str, parsed: list[JSON]) -> None:
        lines = [line for line in map(_payload, event.split("\n")) if line]
        if not lines:
            return
        whole = "\n".join(lines)
        try:
            parsed.append(self._value(whole))
        except BrokenEvent:
            if len(lines) == 1:
                raise
            parsed.extend([self._value(line) for line in lines])  # servers that forget the blank line between events

    def _value(self, payload: str) -> JSON:
        if payload == "[DONE]":
            return DONE
        try:
            return json.loads(payload)
        except (ValueError, RecursionError):
            if payload[0] in "{[":
                raise BrokenEvent(payload) from None
        self.odd = payload  # "ping", "keep-alive" and the like
        return None


def _payload(line: str) -> str:
    if line.startswith("data:"):
        return line[5:].strip()
    return line.strip() if line.lstrip().startswith("{") else ""  # JSON lines without the word "data"
