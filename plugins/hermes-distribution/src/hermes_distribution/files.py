"""Files that a product ships for a person's home: laid down, renewed with it, and never over what the person edited."""

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hermes_atomic.whole import Busy, held, replace

__all__ = ["ALLOWED", "lay_down"]

ALLOWED = ("SOUL.md", "skills", "skins")  # what a home holds for a person to edit; settings are defaults and locked
_LEDGER = "distribution.json"
_MOST = 1_000_000  # bytes of one file
_WAIT = 10.0  # seconds for another process that does the same


def lay_down(shipped: Path, home: Path) -> list[str]:
    """Bring the files of a folder into a home; return those that a person edited, whose new text lies beside them.

    What still is as it was laid down is renewed. What a person edited stays, and the new text is ``NAME.new``. What a
    person deleted stays away, and what the product ships no longer goes if nobody edited it. A death at any moment
    leaves each file whole, and the next call finishes. Raises UserError for a file that has no place in a home, and
    where one cannot be read or written.
    """
    try:
        return _laid_down(shipped, home)
    except Busy as error:
        raise _wrong(f"Another process holds {error}.", "Wait for it, and start again.") from error
    except OSError as error:
        told = f"{error.filename2 or error.filename or home}: {error.strerror or error}"
        hint = "Check the folder and the disk; what was not brought comes with the next start."
        raise _wrong(f"The files of this product cannot be brought: {told}.", hint) from error


def _laid_down(shipped: Path, home: Path) -> list[str]:
    new = dict(_texts(shipped))
    stamp = sha256(json.dumps({name: _sum(data) for name, data in new.items()}, sort_keys=True).encode()).hexdigest()
    ledger = home / _LEDGER
    if _read(ledger).get("stamp") == stamp:
        return []
    with held(home / f".{_LEDGER}.lock", seconds=_WAIT):
        before = _read(ledger).get("files", {})
        edited = [name for name in sorted({*new, *before}) if _one(home, name, new.get(name), before.get(name))]
        files = {name: _sum(data) for name, data in new.items()}
        replace(ledger, json.dumps({"stamp": stamp, "files": files}, indent=1).encode())
    return edited


def _one(home: Path, name: str, data: bytes | None, before: str | None) -> bool:
    """Bring one file; True where a person's stays in its place."""
    path = home / name
    if any(one.is_symlink() for one in (path, *path.parents[: len(Path(name).parts) - 1])):
        return True  # a link on the way is theirs, and what is behind it
    there = _in_place(path)
    if there is not None and not path.is_file():
        return True  # a folder of theirs
    if data is None:
        if there is not None and _sum(there) == before:
            path.unlink()
        return False
    if there is None:
        if before is None:
            _write(home, path, data)
        return False
    if there == data:
        return False
    if _sum(there) == before:
        _write(home, path, data)
        return False
    _write(home, path.with_name(f"{path.name}.new"), data)
    return True


def _in_place(path: Path) -> bytes | None:
    """Return what is there; None where nothing is."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def _write(home: Path, path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(home.resolve()):
        raise _wrong(f"{path.parent} leads out of {home}; nothing was written there.")
    replace(path, data)


def _texts(shipped: Path) -> Iterator[tuple[str, bytes]]:
    for folder, folders, names in os.walk(shipped):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            place = path.relative_to(shipped)
            if place.parts[0] not in ALLOWED or path.is_symlink():
                hint = f"It may ship {', '.join(ALLOWED)}; settings are its defaults and locked."
                raise _wrong(f"{path} has no place in a person's home.", hint)
            if path.stat().st_size > _MOST:
                raise _wrong(f"{path} is larger than {_MOST:,} bytes.")
            yield place.as_posix(), path.read_bytes()


def _read(ledger: Path) -> Mapping[str, Any]:
    try:
        told = json.loads(ledger.read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) and isinstance(told.get("files"), dict) else {}


def _sum(data: bytes) -> str:
    return sha256(data).hexdigest()


def _wrong(text: str, hint: str = "") -> Exception:
    from hermes_core.errors import UserError

    return UserError(text, hint=hint)
