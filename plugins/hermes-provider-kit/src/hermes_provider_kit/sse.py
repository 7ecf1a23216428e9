"""Server-sent events, from bytes to JSON values: fast for what everybody sends, patient with what some send.

Events end at a blank line, so whole network chunks are cut there and parsed at once. Nothing in here waits. The format
is that of the HTML standard, "Server-sent events".
"""

import json
from collections.abc import Sequence

from hermes_core.types import JSON

__all__ = ["DONE", "BrokenEvent", "EventReader", "objects"]

DONE = object()  # the ``[DONE]`` marker among parsed events
LIMIT = 64 * 1024 * 1024  # bytes of one event; more is not a model's reply
_LAST = "\n\ndata: [DONE]"
BOM = b"\xef\xbb\xbf"


class BrokenEvent(ValueError):
    """An event that looks like JSON and is none; ``payload`` is its text."""

    def __init__(self, payload: str) -> None:
        super().__init__(payload)
        self.payload = payload


class EventReader:
    """Turns the bytes of one stream, cut anywhere, into its events.

    What is no JSON, as "ping", is None. An object that does not say its ``type`` gets the one from its ``event:`` line,
    as some proxies drop the former.
    """

    def __init__(self) -> None:
        self._tail = bytearray()
        self._begun = False
        self._carriage = False

    def feed(self, data: bytes) -> list[JSON]:
        """Take the events that are whole with these bytes. Raises BrokenEvent."""
        if not self._begun:
            self._tail += data
            if len(self._tail) < len(BOM) and BOM.startswith(self._tail):
                return []
            data = bytes(self._tail.removeprefix(BOM))
            self._tail.clear()
            self._begun = True
        if self._carriage or b"\r" in data:
            data = self._plain_newlines(data)
        tail = self._tail
        start = max(len(tail) - len(b"\nevent"), 0)
        tail += data
        # A server that forgets the blank line still begins its next event.
        cut = max(tail.rfind(b"\n\n", start), tail.rfind(b"\nevent:", start))
        if cut < 0:
            if len(tail) > LIMIT:
                raise BrokenEvent(tail[:200].decode(errors="replace"))
            return []
        block = tail[:cut].decode("utf-8", "replace")
        del tail[: cut + 1]
        return self._parse_block(block)

    def end(self) -> list[JSON]:
        """Take the events in what is left when the stream ends without a blank line. Raises BrokenEvent."""
        rest = self._tail.decode("utf-8", "replace")
        self._tail.clear()
        return self._parse_block(rest)

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
        block = block.lstrip("\n")
        if block.startswith("data: {"):
            over = block.endswith(_LAST)
            plain = block[: -len(_LAST)] if over else block
            separators = plain.count("\n\ndata: ")
            try:
                events: list[JSON] = json.loads("[" + plain[6:].replace("\n\ndata: ", ",") + "]")
            except (ValueError, RecursionError):
                pass
            else:
                if len(events) == separators + 1:
                    return [*events, DONE] if over else events
        parsed: list[JSON] = []
        for event in block.split("\n\n"):
            for one in _begun(event):
                _parse_event(one, parsed)
        return parsed


def objects(events: Sequence[JSON]) -> list[dict[str, JSON]]:
    """Keep the events that are JSON objects."""
    return [event for event in events if isinstance(event, dict)]


def _begun(event: str) -> list[str]:
    """Cut the lines between two blank ones at each ``event:`` that comes after data."""
    first, *rest = event.split("\nevent:")
    return [first, *(f"event:{one}" for one in rest)]


def _parse_event(event: str, parsed: list[JSON]) -> None:
    every = event.split("\n")
    lines = [line for line in map(_payload, every) if line]
    if not lines:
        return
    name = every[0][6:].strip() if every[0].startswith("event:") else ""
    whole = "\n".join(lines)
    try:
        parsed.append(_named(_value(whole), name))
    except BrokenEvent:
        if len(lines) == 1:
            raise
        parsed.extend([_named(_value(line), name) for line in lines])  # who forgets the blank line between events


def _named(value: JSON, name: str) -> JSON:
    return {**value, "type": name} if name and isinstance(value, dict) and "type" not in value else value


def _value(payload: str) -> JSON:
    if payload == "[DONE]":
        return DONE
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        if payload[0] in "{[":
            raise BrokenEvent(payload) from None
    return None  # "ping", "keep-alive" and the like


def _payload(line: str) -> str:
    if line.startswith("data:"):
        return line[5:].strip()
    return line.strip() if line.lstrip().startswith("{") else ""  # JSON lines without the word "data"
