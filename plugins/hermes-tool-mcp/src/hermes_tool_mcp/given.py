"""Servers that a conversation was given by whoever opened it, as editors do: its own, for as long as it is open here.

Nothing of them is written down but what they have, as of all servers: who opens the conversation again gives them
again. A name that the settings have stays theirs.
"""

import json
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import ToolOutput
from hermes_core.types import JSON, Text
from hermes_core.values import frozen
from hermes_tool_mcp.config import ServerSettings

__all__ = ["Given", "give", "given_to", "hidden", "kept_as", "read", "sweep", "without_secrets"]

_SESSIONS = 500  # of one kernel that are remembered to have some
_MONTH = 30 * 86_400.0  # seconds
_MOST = 32  # servers of one conversation
_ODD = re.compile(r"[^a-z0-9-]+")
_SHORTEST = 8  # characters of a value that is taken out of what its server says
_WAYS = {"http": "http", "streamable-http": "http", "sse": "sse"}


@frozen(kw_only=True)
class Given(ServerSettings):
    """One of them. It is asked about, and bounded, as any other."""


def kept_as(name: str, server: ServerSettings) -> str:
    """Return the name under which files of a server are kept: two conversations may mean different ones by one name."""
    from hermes_tool_mcp.lists import mark_of

    return f"given-{mark_of(server)}" if isinstance(server, Given) else name


def given_to(ctx: PluginContext, session: str) -> Mapping[str, Given]:
    """Return what a conversation was given, by its id."""
    found: Mapping[str, Given] = ctx.state.get("given", {}).get(session, {})
    return found


def give(ctx: PluginContext, session: str, servers: Mapping[str, Given]) -> None:
    """Give a conversation these in the place of those it had."""
    all_given: dict[str, Mapping[str, Given]] = ctx.state.setdefault("given", {})
    all_given.pop(session, None)
    if servers:
        all_given[session] = dict(servers)
    while len(all_given) > _SESSIONS:
        del all_given[next(iter(all_given))]


def sweep(ctx: PluginContext) -> None:
    """Take away what is kept for servers that no conversation was given for a month."""
    kept = ctx.paths.cache / "kept"
    for path in kept.glob("given-*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _MONTH:
                for place in (ctx.paths.cache / "homes", ctx.paths.cache / "places", kept):  # last what tells its age
                    shutil.rmtree(place / path.name, ignore_errors=True)
                (ctx.paths.data / "lists" / f"{path.name}.json").unlink(missing_ok=True)


def read(text: str) -> dict[str, Given]:
    """Read them as ``.mcp.json`` writes ``mcpServers``: an object of objects, by name. Raises UserError.

    The format: https://code.claude.com/docs/en/mcp, "MCP server configuration". No value is repeated in an error.
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError("This is no JSON.", hint='Such as: /mcp {"notes": {"command": "notes-server"}}') from None
    told = told.get("mcpServers", told) if isinstance(told, dict) else told
    if not isinstance(told, dict) or not all(isinstance(one, dict) for one in told.values()):
        raise UserError("MCP servers are an object: each name with an object of its settings.")
    if len(told) > _MOST:
        raise UserError(f"A conversation has at most {_MOST} MCP servers of its own.")
    found: dict[str, Given] = {}
    for name, row in told.items():
        plain = _ODD.sub("-", name.lower()).strip("-")[:24].strip("-")
        if not plain or plain in found:
            raise UserError(f"{name[:80]!r} is no name for a server beside the others: write a-z, 0-9 and -.")
        found[plain] = _server(name[:80], row)
    return found


def _server(name: str, row: Mapping[str, JSON]) -> Given:
    command, url, args = row.get("command", ""), row.get("url", ""), row.get("args", [])
    way = row.get("type") or ("http" if url else "stdio")
    if not isinstance(command, str) or not isinstance(url, str) or bool(command) == bool(url):
        raise UserError(f"The server {name!r} has either a command or a url.")
    if way != "stdio" if command else way not in _WAYS:
        raise UserError(f"The server {name!r} is spoken to in a way that is not known here.")
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise UserError(f"The args of the server {name!r} are a list of texts.")
    if "\0" in "".join((command, *args)):
        raise UserError(f"The command of the server {name!r} is no command.")
    made: dict[str, Any] = {"command": command, "args": args, "url": url, "transport": _WAYS.get(str(way), "http")}
    for key in ("env", "headers"):
        values = row.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(one, str) for one in values.values()):
            raise UserError(f"{key} of the server {name!r} is an object of texts.")
        made[key] = values
    try:
        return Given(**made)
    except ValueError:
        raise UserError(f"The url of the server {name!r} is no address: write https://host/path.") from None


def without_secrets(server: ServerSettings, said: ToolOutput) -> ToolOutput:
    """Return what a server said without the values it was given: nobody else knows that they are secrets."""
    if not isinstance(server, Given):
        return said
    if isinstance(said, str):
        return hidden(server, said)
    return [evolve(one, text=hidden(server, one.text)) if isinstance(one, Text) else one for one in said]


def hidden(server: ServerSettings, text: str) -> str:
    """Return a text without the values that a server was given."""
    for name, value in (*server.env.items(), *server.headers.items()) if isinstance(server, Given) else ():
        if len(value) >= _SHORTEST:
            text = text.replace(value, f"[{name}]")
    return text
