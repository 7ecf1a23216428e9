"""The catalogue: MCP servers that many people want, as data, each as it would be added."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from hermes_core.errors import UnknownName
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_mcp.config import ServerSettings

__all__ = ["Entry", "entries", "entry"]

_SHOWN = ("summary", "homepage", "login")


@frozen(kw_only=True)
class Entry:
    """One server: what it is for, the settings it would have, and whether it wants a login."""

    name: str
    summary: str
    homepage: str
    row: Mapping[str, JSON]
    login: bool = False

    @property
    def words(self) -> str:
        """What would be started, or where it is."""
        server = ServerSettings(**self.row)
        return server.url or " ".join([server.command, *server.args])


def entries() -> Mapping[str, Entry]:
    """Return all of them, by name, in the order of the file."""
    found = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))
    return {
        name: Entry(
            name=name,
            summary=row["summary"],
            homepage=row["homepage"],
            login=row.get("login", False),
            row={key: value for key, value in row.items() if key not in _SHOWN},
        )
        for name, row in found.items()
    }


def entry(name: str, program: str) -> Entry:
    """Return one of them. Raises UnknownName."""
    known = entries()
    if name not in known:
        raise UnknownName("server in the catalogue", name, known, hint=f"{program} mcp catalog shows them.")
    return known[name]
