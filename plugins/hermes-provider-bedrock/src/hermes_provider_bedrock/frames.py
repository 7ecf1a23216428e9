"""Frames of ``application/vnd.amazon.eventstream`` to events, however they are cut; AWS's library reads them.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, which describes the frames.
"""

import json
from collections.abc import Mapping

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.sse import BrokenEvent

__all__ = ["Event", "FrameReader"]


@frozen
class Event:
    """One event: its name, its fields, and whether it says that something failed."""

    name: str
    body: Mapping[str, JSON]
    failed: bool = False


class FrameReader:
    """Takes bytes, gives the events that are whole."""

    def __init__(self) -> None:
        from botocore.eventstream import EventStreamBuffer  # type: ignore[import-untyped]

        self._buffer = EventStreamBuffer()

    def feed(self, data: bytes) -> list[Event]:
        """Take the events that some more bytes end. Raises BrokenEvent for what is no frame."""
        from struct import error as cut_short

        from botocore.eventstream import ParserError

        self._buffer.add_data(data)
        try:
            return [_event(message.headers, message.payload) for message in self._buffer]
        # what the library raises for a frame that is damaged, or that nobody writes
        except (ParserError, cut_short, ValueError, LookupError, TypeError) as error:
            raise BrokenEvent(f"a frame that cannot be read ({type(error).__name__})") from None


def _event(headers: Mapping[str, object], payload: bytes) -> Event:
    kind = headers.get(":message-type")
    try:
        body = json.loads(payload) if payload else {}
    except (ValueError, RecursionError):
        body = {"message": payload.decode("utf-8", "replace")[:2000]} if kind in ("exception", "error") else None
    if not isinstance(body, Mapping):
        raise BrokenEvent(payload[:200].decode("utf-8", "replace"))
    if kind == "exception":
        return Event(str(headers.get(":exception-type") or ""), body, failed=True)
    if kind == "error":  # as the framing itself tells of one
        told = {"message": str(headers.get(":error-message") or body.get("message") or "")}
        return Event(str(headers.get(":error-code") or ""), told, failed=True)
    return Event(str(headers.get(":event-type") or ""), body)
