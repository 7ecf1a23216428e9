"""Where a conversation goes on whose client names no session, but sends the whole of it with each message.

And which request a key came with.

The *head* of a session is a digest of what was said in it. Who sends a history with that digest goes on there. A head
is taken by whoever uses it first, so that of two who go on from the same point one goes on here and the other begins a
branch; and it is only good while nothing was added to the session.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import asdict

from hermes_core.brokers import DocumentsBroker
from hermes_core.control import SessionsBroker
from hermes_core.errors import HermesError
from hermes_core.types import JSON, Blob, Message, Principal, Text

__all__ = ["Head", "Heads", "Keys"]

_DOCUMENTS = 128  # that the heads of one person are spread over
_MOST = 500  # heads in each; the oldest beyond are forgotten, and who comes back to one begins a session


class Head:
    """A digest of what was said so far. Space around a text does not count: clients trim.

    Of an answer no space counts, nor how it is divided: what was said before a call and after it comes to a client in
    one piece or in several.
    """

    def __init__(self, system: str, history: Sequence[Message]) -> None:
        self._digest = hashlib.sha256(system.encode("utf-8", "replace"))
        for message in history:
            self.add(message)

    def __str__(self) -> str:
        return self._digest.hexdigest()

    def add(self, message: Message) -> None:
        """Take up the next message."""
        parts = [_plain(part) for part in message.parts if _says(part)]
        said = [message.role, *(_joined(parts) if message.role == "assistant" else parts)]
        self._digest.update(b"\0" + json.dumps(said, sort_keys=True, default=str).encode("utf-8", "replace"))

    def ended(self, answer: str) -> str:
        """The digest after an answer."""
        after = Head("", ())
        after._digest = self._digest.copy()
        after.add(Message(role="assistant", parts=(Text(text=answer),)))
        return str(after)


def _says(part: object) -> bool:
    return not isinstance(part, Text) or bool(part.text.strip())


def _plain(part: Any) -> Mapping[str, object]:
    if isinstance(part, Text):
        return {"text": part.text.strip()}
    known = asdict(part)
    if isinstance(part, Blob) and part.data is not None:
        known["data"] = hashlib.sha256(part.data).hexdigest()
    return known


def _joined(parts: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, object]]:
    """The same, with texts that follow each other as one, without space."""
    found: list[dict[str, Any]] = []
    for part in parts:
        text = "".join(part["text"].split()) if part.keys() == {"text"} else None
        if text is not None and found and found[-1].keys() == {"text"}:
            found[-1]["text"] += text
        else:
            found.append(dict(part) if text is None else {"text": text})
    return found


class Heads:
    """The heads of every person's sessions."""

    def __init__(self, documents: DocumentsBroker, sessions: SessionsBroker) -> None:
        self._documents, self._sessions = documents, sessions

    async def take(self, owner: Principal, head: str) -> str:
        """The session that ends with what a head stands for, nobody else's from now on; empty where there is none."""
        found: list[Any] = []

        def without(before: JSON | None) -> JSON | None:
            known = dict(before) if isinstance(before, dict) else {}
            found[:] = [known.pop(head, None)]
            return known or None

        await self._documents.change(_name(head), without, owner=owner)
        session, number = found[0] or ("", 0)
        try:
            return session if session and await self._last(owner, session) == number else ""
        except HermesError:  # it is gone
            return ""

    async def put(self, owner: Principal, session: str, heads: Sequence[str]) -> None:
        """Say what a session ends with now. What cannot be kept is not: the next message begins a session."""
        try:
            entry: JSON = [session, await self._last(owner, session)]
            for head in dict.fromkeys(heads):

                def more(before: JSON | None, head: str = head) -> JSON:
                    known = dict(before) if isinstance(before, dict) else {}
                    known.pop(head, None)
                    return {**dict(list(known.items())[1 - _MOST :]), head: entry}

                await self._documents.change(_name(head), more, owner=owner)
        except HermesError:
            return

    async def _last(self, owner: Principal, session: str) -> int:
        rows = await self._sessions.read(owner, session, window=1)
        return rows[-1][0] if rows else 0


class Keys:
    """Which request an Idempotency-Key came with first."""

    def __init__(self, documents: DocumentsBroker) -> None:
        self._documents = documents

    async def bind(self, owner: Principal, key: str, event: str) -> Literal["first", "again", "other"]:
        """Bind a key to the request of an event, or say what it was bound to. It is stored when this returns."""
        first: list[Any] = []

        def bound(before: JSON | None) -> JSON:
            known = dict(before) if isinstance(before, dict) else {}
            first[:] = [known.get(key)]
            return known if key in known else {**dict(list(known.items())[1 - _MOST :]), key: event}

        await self._documents.change(_name(key, "keys"), bound, owner=owner)
        return "first" if first == [None] else "again" if first == [event] else "other"


def _name(digest: str, kind: str = "heads") -> str:
    return f"{kind}-{int(digest[:8], 16) % _DOCUMENTS}"
