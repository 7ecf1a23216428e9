"""The names under which models know the tools of servers."""

import hashlib
import re
from collections.abc import Iterable

__all__ = ["LONGEST", "PREFIX", "named", "server_of", "source_of"]

PREFIX = "mcp__"
LONGEST = 64  # characters that every provider accepts
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def source_of(server: str) -> str:
    """Return what the names of a server's tools begin with, but for the ``_`` that follows."""
    return f"{PREFIX}{server}_"


def server_of(name: str) -> str:
    """Return the server that a tool's name says; empty for what is no tool of a server's."""
    return name.removeprefix(PREFIX).partition("__")[0] if name.startswith(PREFIX) else ""


def named(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Return the tools by the names that models know: each once, and the same whatever else there is.

    What cannot stand in a name becomes ``_``; a name that is changed or too long ends in a digest of the tool's own.
    """
    found: dict[str, str] = {}
    for tool in tools:
        plain = _ODD.sub("_", tool)
        whole = f"{PREFIX}{server}__{plain}"
        if plain != tool or len(whole) > LONGEST:
            digest = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            whole = f"{whole[: LONGEST - 9]}_{digest}"
        found.setdefault(whole, tool)
    return found
