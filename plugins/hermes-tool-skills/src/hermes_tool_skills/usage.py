"""How often each skill is read, run and mended, and when last: one short line for each, in a file that only grows.

Losing a line costs a count and nothing else, so nothing waits for the disk, and what cannot be read is left out.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import evolve

from hermes_core.values import frozen

What: TypeAlias = Literal["read", "run", "changed"]
_MOST = 400_000  # bytes of single lines; then they are summed up


@frozen(kw_only=True)
class Use:
    """Of one skill, since it is counted."""

    read: int = 0
    run: int = 0
    changed: int = 0
    last: float = 0.0


def note(data: Path, name: str, what: What, when: float) -> None:
    """Count one. A file that cannot be written is no reason not to go on."""
    line = json.dumps({"skill": name[:200], "what": what, "when": round(when, 1)}) + "\n"
    with suppress(OSError):
        handle = os.open(data / "usage.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)


def uses(data: Path) -> dict[str, Use]:
    """What was counted, by the names of skills."""
    found: dict[str, Use] = {}
    try:
        lines = (data / "usage.jsonl").read_bytes().splitlines()
    except OSError:
        return found
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            row = json.loads(line)
            now = found.get(str(row["skill"]), Use())
            last = max(now.last, float(row["when"]))
            if "sum" in row:
                now = Use(**{key: getattr(now, key) + int(row["sum"][key]) for key in ("read", "run", "changed")})
            elif row["what"] in ("read", "run", "changed"):
                now = evolve(now, **{row["what"]: getattr(now, row["what"]) + 1})
            found[str(row["skill"])] = evolve(now, last=last)
    return found


def shorten(data: Path, write: Callable[[Path, bytes], None]) -> None:
    """Sum the lines up once they are many; ``write`` replaces a file as a whole. The caller holds the library."""
    place = data / "usage.jsonl"
    try:
        if place.stat().st_size <= _MOST:
            return
    except OSError:
        return
    rows = [
        {"skill": name, "when": use.last, "sum": {"read": use.read, "run": use.run, "changed": use.changed}}
        for name, use in sorted(uses(data).items())
    ]
    write(place, "".join(json.dumps(row) + "\n" for row in rows).encode())
