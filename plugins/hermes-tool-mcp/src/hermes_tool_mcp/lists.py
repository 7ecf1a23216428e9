"""What servers said that they have, kept in files: so tools are offered before any server is reached.

A list belongs to the settings it was made with. Who reads it connects to nothing.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, asdict, evolve

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import kept_as

__all__ = ["Listed", "ListedSkill", "ListedTool", "Lists", "mark_of"]

_MOST = 16_000_000  # bytes of one file


@frozen(kw_only=True)
class ListedTool:
    """A tool as its server describes it; ``schema`` stays as it is. ``looks``: it says that it changes nothing."""

    name: str
    description: str = ""
    schema: Mapping[str, JSON]
    looks: bool = False


@frozen(kw_only=True)
class ListedSkill:
    """A skill as its server describes it. ``files`` are the digest and the size in bytes of each, by its URI."""

    name: str
    description: str
    uri: str
    head: Mapping[str, JSON]
    files: Mapping[str, Sequence[Any]]


@frozen(kw_only=True)
class Listed:
    """All that a server has. ``mark`` is that of the settings; ``prompts`` are names with their arguments.

    ``left`` are tools that cannot be used: each name, and why.
    """

    mark: str
    title: str = ""
    protocol: str = ""
    tools: Sequence[ListedTool] = ()
    prompts: Sequence[Mapping[str, JSON]] = ()
    resources: bool = False
    skills: Sequence[ListedSkill] = ()
    left: Sequence[Mapping[str, JSON]] = ()
    at: float = Factory(float)


def mark_of(server: ServerSettings) -> str:
    """Return a digest of what makes a server another one."""
    parts = [server.command, server.args, sorted(server.env), server.url, server.transport, server.folder]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


class Lists:
    """The lists of a home. A file is read again when it is another one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "lists"
        self._read: dict[str, tuple[tuple[int, int, int], Listed | None]] = {}
        self._marks: dict[str, tuple[ServerSettings, str]] = {}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def get(self, name: str, server: ServerSettings) -> Listed | None:
        """Return what a server has; None where nobody knows, or what is known is of other settings."""
        name = kept_as(name, server)
        try:
            status = os.stat(f"{self._folder}/{name}.json")  # noqa: PTH116 - of each server several times in a turn
        except OSError:
            return None
        mark = (status.st_ino, status.st_mtime_ns, status.st_size)
        if name not in self._read or self._read[name][0] != mark:
            self._read[name] = (mark, _parsed(self._path(name)))
        found = self._read[name][1]
        return found if found and found.mark == self._mark(name, server) else None

    def _mark(self, name: str, server: ServerSettings) -> str:
        """Return the mark of a server, which is made once: settings are another object when they change."""
        known = self._marks.get(name)
        if known is None or known[0] is not server:
            known = self._marks[name] = (server, mark_of(server))
        return known[1]

    def put(self, name: str, listed: Listed) -> bool:
        """Keep what a server has; whether that is something else than before."""
        from hermes_atomic.whole import replace

        before = _parsed(self._path(name)) if self._path(name).exists() else None
        if before is not None and evolve(before, at=listed.at) == listed:
            return False
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(self._path(name), json.dumps(asdict(listed)).encode(), mode=0o600, sync=False)  # else it is asked again
        return True

    def forget(self, name: str) -> None:
        """Forget what a server has."""
        self._path(name).unlink(missing_ok=True)


def _skill(row: dict[str, Any]) -> ListedSkill:
    files = {uri: (str(digest), int(size)) for uri, (digest, size) in row["files"].items()}
    return ListedSkill(**{**row, "files": files})


def _parsed(path: Path) -> Listed | None:
    """Return what a file holds; None for what cannot be read: the server is asked again then."""
    try:
        if path.stat().st_size > _MOST:
            return None
        data: dict[str, Any] = json.loads(path.read_bytes())
        tools = tuple(ListedTool(**one) for one in data.pop("tools"))
        skills = tuple(_skill(one) for one in data.pop("skills", ()))
        rows = {key: tuple(data.pop(key, ())) for key in ("prompts", "left")}
        return Listed(**{**data, **rows, "tools": tools, "skills": skills})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
