"""How the versions of a tool have fared: which of them worked, and how often the one in force crashed in a row."""

import json
from contextlib import suppress
from pathlib import Path

from attrs import field

from hermes_core.values import frozen
from hermes_tool_workshop import disk


@frozen(kw_only=True)
class Health:
    """Of one tool. ``row`` counts the crashes of ``version`` since it last worked."""

    version: int = 0
    row: int = 0
    worked: frozenset[int] = field(default=frozenset())


class Record:
    """Where a tool's health is kept; losing it costs a count, so a file that cannot be read is an empty one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> Health:
        """What is known."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            found = json.loads(disk.read_plain(self._folder / "health.json"))
            worked = frozenset(int(number) for number in found["worked"])
            return Health(version=int(found["version"]), row=int(found["row"]), worked=worked)
        return Health()

    def worked(self, version: int) -> None:
        """A call came to a good or an orderly end."""
        now = self.read()
        if now.version != version or now.row or version not in now.worked:
            self._write(Health(version=version, row=0, worked=now.worked | {version}))

    def crashed(self, version: int) -> Health:
        """A call crashed; what is known now."""
        now = self.read()
        row = now.row + 1 if now.version == version else 1
        after = Health(version=version, row=row, worked=now.worked)
        self._write(after)
        return after

    def forgiven(self, version: int) -> None:
        """Begin to count anew."""
        self._write(Health(version=version, worked=self.read().worked))

    def _write(self, health: Health) -> None:
        stored = {"version": health.version, "row": health.row, "worked": sorted(health.worked)}
        with suppress(OSError):
            disk.write_whole(self._folder / "health.json", f"{json.dumps(stored)}\n".encode())
