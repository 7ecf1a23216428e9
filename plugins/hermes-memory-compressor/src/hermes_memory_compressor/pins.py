"""Pinned facts on disk: one JSON file per session, in a folder per person, replaced as a whole by rename."""

import hashlib
import json
import re
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.types import Session
from hermes_paths.whole import replace

MOST, LONGEST, MOST_CHARACTERS = 100, 4_000, 20_000
_VERSION = 1
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


class Pins:
    """The pinned facts of all sessions. Nothing of one person is ever found under another's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, session: Session) -> Path:
        """Where a session's pins are, whether there are any or not."""
        profile, person = session.owner.profile, session.owner.person
        plain = _PLAIN.fullmatch(profile) and _PLAIN.fullmatch(person)
        folder = f"{profile}.{person}" if plain else _digest(f"{profile}\0{person}")
        return self._folder / folder / f"{session.id if _PLAIN.fullmatch(session.id) else _digest(session.id)}.json"

    def read(self, session: Session) -> tuple[str, ...]:
        """The pins of a session, oldest first. Raises UserError when they cannot be read."""
        path = self.path(session)
        try:
            stored = json.loads(path.read_bytes())
            if stored["version"] != _VERSION:
                raise ValueError(f"version {stored['version']!r} is not known here")
            return tuple(str(pin) for pin in stored["pins"])
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise UserError(f"Cannot read the pins in {path}: {error.strerror or error}.") from None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            text = f"The pins in {path} are damaged ({type(error).__name__}: {str(error)[:100]})."
            raise UserError(text, hint="Correct the file, or delete it and pin again.") from None

    def add(self, session: Session, text: str) -> tuple[str, ...]:
        """Pin a fact; all there are then. The same one twice is one pin. Raises UserError."""
        pins = self.read(session)
        if text in pins:
            return pins
        if len(text) > LONGEST:
            raise UserError(f"This is {len(text):,} characters; a pin has at most {LONGEST:,}.", hint="Pin less of it.")
        if len(pins) >= MOST or sum(map(len, pins)) + len(text) > MOST_CHARACTERS:
            text = f"There is no room for another pin: {MOST} pins, or {MOST_CHARACTERS:,} characters, are the most."
            raise UserError(text, hint="Take one out: /pin drop N")
        return self._write(session, (*pins, text))

    def drop(self, session: Session, number: int) -> tuple[str, ...]:
        """Take the ``number``-th pin out; what is left. Raises UserError."""
        pins = self.read(session)
        if not 1 <= number <= len(pins):
            raise UserError(f"There is no pin {number}.", hint="/pin lists them.")
        return self._write(session, (*pins[: number - 1], *pins[number:]))

    def _write(self, session: Session, pins: tuple[str, ...]) -> tuple[str, ...]:
        path = self.path(session)
        # Escaped to ASCII: a lone surrogate must not make the pins unwritable.
        text = json.dumps({"version": _VERSION, "session": session.id, "pins": pins}, indent=1) + "\n"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(path, text.encode("ascii"))
        except OSError as error:
            raise UserError(f"Cannot write the pins in {path}: {error.strerror or error}.") from None
        return pins


def _digest(name: str) -> str:
    """A file name for any text; ``~`` keeps it apart from names that are used as they are."""
    return f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
