"""The connections of one kernel: made for whoever holds them, and ended when nobody does."""

import asyncio
import hashlib
import json
from collections.abc import Container, Mapping

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_core.values import frozen
from hermes_tool_mcp.asking import callbacks
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.connection import Connection
from hermes_tool_mcp.given import kept_as
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.lists import Listed, Lists, mark_of
from hermes_tool_mcp.reach import opening

__all__ = ["Key", "Pool", "pool_of"]


@frozen
class Key:
    """Whose connection it is: a person's, to a server with these settings, that works in a folder."""

    name: str
    mark: str
    person: str
    folder: str


class Pool:
    """Connections by what they are for. A started server is one for each folder it works in."""

    def __init__(self, ctx: PluginContext, lists: Lists) -> None:
        self._ctx, self.lists = ctx, lists
        self._made: dict[Key, Connection] = {}
        self._holders: dict[Key, set[str]] = {}
        self._wholes: dict[str, tuple[ServerSettings, str]] = {}

    def hold(self, holder: str, name: str, server: ServerSettings, owner: Principal, folder: str = "") -> Connection:
        """Return the connection for a holder, which is connected when it is used. It is kept until ``release``."""
        key = Key(name, self._whole(name, server), owner.person, folder if server.command and not server.folder else "")
        if key not in self._made:
            self._made[key] = self._connection(name, server, key.folder)
        self._holders.setdefault(key, set()).add(holder)
        return self._made[key]

    def _whole(self, name: str, server: ServerSettings) -> str:
        """Return the digest of a server, which is made once: settings are another object when they change."""
        known = self._wholes.get(name)
        if known is None or known[0] is not server:
            known = self._wholes[name] = (server, _whole(server))
        return known[1]

    def _connection(self, name: str, server: ServerSettings, folder: str) -> Connection:
        def learned(listed: Listed) -> None:
            self.lists.put(kept_as(name, server), listed)

        return Connection(
            name,
            server,
            opening(self._ctx, name, server, folder),
            learned,
            self._ctx.log,
            lambda connection: callbacks(self._ctx, connection, folder),
        )

    async def release(self, holder: str, only: Container[str] | None = None) -> None:
        """Let go of all that somebody holds, or of some servers by name; what nobody holds any more is ended."""
        ending: list[Connection] = []
        for key, holders in list(self._holders.items()):
            if only is None or key.name in only:
                holders.discard(holder)
            if not holders:
                del self._holders[key]
                ending.append(self._made.pop(key))
        await asyncio.gather(*(one.close() for one in ending))

    def held_by(self, holder: str) -> Mapping[str, Connection]:
        """Return the connections of a holder, by their servers."""
        return {key.name: self._made[key] for key, holders in self._holders.items() if holder in holders}


def _whole(server: ServerSettings) -> str:
    """Return a digest of all that a connection is made with: two may be given one server with different keys."""
    secret = [sorted(server.env.items()), sorted(server.headers.items())]
    return hashlib.sha256(json.dumps([mark_of(server), secret]).encode()).hexdigest()[:16]


def pool_of(ctx: PluginContext) -> Pool:
    """Return the connections of a kernel."""
    found = ctx.state.get("pool") or ctx.state.setdefault("pool", Pool(ctx, lists_of(ctx)))
    assert isinstance(found, Pool)
    return found
