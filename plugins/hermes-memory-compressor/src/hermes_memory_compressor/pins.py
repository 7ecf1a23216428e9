"""Pinned facts, a document of their conversation. Those that an older version kept in files are taken over."""

import asyncio
import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict, UserError
from hermes_core.patterns import pattern
from hermes_core.types import JSON, Session

MOST, LONGEST, MOST_CHARACTERS = 100, 4_000, 20_000
_NAME, _VERSION = "pins", 1
_PLAIN = pattern(r"[a-z0-9][a-z0-9_-]{0,79}")


class Pins:
    """The pinned facts of all conversations. They are copied with theirs, and go with it."""

    def __init__(self, documents: DocumentsBroker, folder: Path) -> None:
        """``folder`` is where an older version kept them."""
        self._documents, self._folder = documents, folder

    async def read(self, session: Session) -> tuple[str, ...]:
        """The pins of a session, oldest first. Raises UserError when they cannot be read."""
        await self._take_over(session)
        document = await self._documents.get(_NAME, **_place(session))
        return _pins_of(document.value) if document else ()

    async def add(self, session: Session, text: str) -> tuple[str, ...]:
        """Pin a fact; all there are then. The same one twice is one pin. Raises UserError."""

        def added(pins: tuple[str, ...]) -> tuple[str, ...]:
            if text in pins:
                return pins
            if len(text) > LONGEST:
                why = f"This is {len(text):,} characters; a pin has at most {LONGEST:,}."
                raise UserError(why, hint="Pin less of it.")
            if len(pins) >= MOST or sum(map(len, pins)) + len(text) > MOST_CHARACTERS:
                why = f"There is no room for another pin: {MOST} pins, or {MOST_CHARACTERS:,} characters, are the most."
                raise UserError(why, hint="Take one out: /pin drop N")
            return (*pins, text)

        return await self._change(session, added)

    async def drop(self, session: Session, number: int) -> tuple[str, ...]:
        """Take the ``number``-th pin out; what is left. Raises UserError."""

        def dropped(pins: tuple[str, ...]) -> tuple[str, ...]:
            if not 1 <= number <= len(pins):
                raise UserError(f"There is no pin {number}.", hint="/pin lists them.")
            return (*pins[: number - 1], *pins[number:])

        return await self._change(session, dropped)

    async def _change(self, session: Session, edit: Any) -> tuple[str, ...]:
        await self._take_over(session)

        def changed(before: JSON | None) -> JSON | None:
            pins = edit(() if before is None else _pins_of(before))
            return {"version": _VERSION, "pins": list(pins)} if pins else None

        after = await self._documents.change(_NAME, changed, **_place(session))
        return _pins_of(after) if after else ()

    def old_path(self, session: Session) -> Path:
        """Where an older version kept the pins of a session."""
        profile, person = session.owner.profile, session.owner.person
        plain = _PLAIN.fullmatch(profile) and _PLAIN.fullmatch(person)
        folder = f"{profile}.{person}" if plain else _digest(f"{profile}\0{person}")
        return self._folder / folder / f"{session.id if _PLAIN.fullmatch(session.id) else _digest(session.id)}.json"

    async def forget_old(self, session: Session) -> None:
        """Delete that file."""
        await asyncio.to_thread(self.old_path(session).unlink, missing_ok=True)

    async def _take_over(self, session: Session) -> None:
        """Let the pins of an older version go on here. A file that cannot be read stays, and is told."""
        path = self.old_path(session)
        if not await asyncio.to_thread(path.is_file):
            return
        try:
            stored = json.loads(await asyncio.to_thread(path.read_bytes))
            value: JSON = {"version": _VERSION, "pins": list(_pins_of(stored))}
        except OSError as error:
            raise UserError(f"Cannot read the pins in {path}: {error.strerror or error}.") from None
        except (ValueError, RecursionError, UserError) as error:
            text = f"The pins in {path} are damaged ({type(error).__name__}: {str(error)[:100]})."
            raise UserError(text, hint="Correct the file, or delete it and pin again.") from None
        with suppress(Conflict):  # what is kept here is newer
            await self._documents.put(_NAME, value, version=0, **_place(session))
        with suppress(OSError):
            await asyncio.to_thread(path.unlink)


def _place(session: Session) -> dict[str, Any]:
    return {"owner": session.owner, "session_id": session.id}


def _pins_of(stored: JSON) -> tuple[str, ...]:
    try:
        if stored["version"] != _VERSION:
            raise ValueError(f"version {stored['version']!r} is not known here")
        return tuple(str(pin) for pin in stored["pins"])
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"The pins of this conversation are damaged ({type(error).__name__}: {error}).") from None


def _digest(name: str) -> str:
    """A file name for any text; ``~`` keeps it apart from names that are used as they are."""
    return f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
