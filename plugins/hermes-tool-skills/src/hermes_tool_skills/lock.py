"""``skills.lock``: which skills a person accepted, where each came from, and the hash of every file of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import Factory, asdict, evolve

from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_skills.disk import write_json
from hermes_tool_skills.tree import digest

Origin: TypeAlias = Literal["installed", "agent", "person"]
ORIGINS: tuple[Origin, ...] = ("installed", "agent", "person")
_VERSION = 1


@frozen(kw_only=True)
class Entry:
    """What was accepted under one name. ``stage`` says how far a change got: settling and going are not finished.

    ``resolved`` is the commit or address that ``source`` stood for; ``findings`` are the rules that spoke against it.
    """

    name: str
    origin: Origin
    version: int
    files: Mapping[str, str]
    enabled: bool = True
    pinned: bool = False
    stage: Literal["here", "settling", "going", "gone"] = "here"
    source: str = ""
    resolved: str = ""
    verdict: str = "safe"
    findings: tuple[str, ...] = ()
    who: str = ""
    when: float = 0.0

    @property
    def digest(self) -> str:
        """One hash for all files."""
        return digest(self.files)


@frozen(kw_only=True)
class Lock:
    """All entries, and the names of skills from elsewhere that are switched off."""

    entries: Mapping[str, Entry] = Factory(dict)
    disabled: tuple[str, ...] = ()

    def get(self, name: str) -> Entry | None:
        """The entry of a skill that is here, or on its way; None for one that is gone or was never there."""
        entry = self.entries.get(name)
        return entry if entry and entry.stage not in ("gone", "going") else None

    def having(self, entry: Entry) -> "Lock":
        """The same with one entry added or replaced."""
        return evolve(self, entries={**self.entries, entry.name: entry})

    @property
    def unfinished(self) -> list[Entry]:
        """Entries of changes that were cut off."""
        return [e for e in self.entries.values() if e.stage in ("settling", "going")]


class BadLock(UserError):
    """The lock is damaged: no skill that depends on it is used."""


def read_lock(path: Path) -> Lock:
    """What stands in the file; nothing when there is none. Raises BadLock, which says what to do."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Lock()
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(path, str(error)) from None
    try:
        if data["version"] != _VERSION:
            raise ValueError(f"version {data['version']!r} is not known here")
        entries = {str(name): _entry(str(name), row) for name, row in data["skills"].items()}
        return Lock(entries=entries, disabled=tuple(map(str, data["disabled"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _bad(path, f"{type(error).__name__}: {error}") from None


def write_lock(path: Path, lock: Lock) -> None:
    """Replace the file as a whole. Raises OSError."""
    rows: JSON = {name: {k: v for k, v in asdict(e).items() if k != "name"} for name, e in lock.entries.items()}
    write_json(path, {"version": _VERSION, "skills": rows, "disabled": sorted(set(lock.disabled))})


def _entry(name: str, row: Mapping[str, Any]) -> Entry:
    if row["origin"] not in ORIGINS or row["stage"] not in ("here", "settling", "going", "gone"):
        raise ValueError(f"{name}: origin {row['origin']!r}, stage {row['stage']!r}")
    files = {str(path): str(value) for path, value in row["files"].items()}
    flags: Any = {key: row[key] is True for key in ("enabled", "pinned")}
    texts: Any = {key: str(row[key]) for key in ("source", "resolved", "verdict", "who")}
    return Entry(
        name=name,
        origin=row["origin"],
        version=int(row["version"]),
        files=files,
        stage=row["stage"],
        findings=tuple(map(str, row["findings"])),
        when=float(row["when"]),
        **flags,
        **texts,
    )


def _bad(path: Path, reason: str) -> BadLock:
    hint = f"Bring {path} back from a backup, or move it away and accept each skill again: hermes skills enable NAME"
    return BadLock(f"{path} is damaged ({reason[:200]}), so the skills it speaks for are not used.", hint=hint)
