"""What the platform of a host tells a screen elsewhere: of past conversations, and of screens that plugins bring."""

import json
from collections.abc import Mapping
from typing import Any

from attrs import asdict

from hermes_core.codec import message_to_json
from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_platform_kit.spoken import session_to_json
from hermes_platform_tui.distant import Around

__all__ = ["first", "told"]

_LARGE = 4 << 20  # characters of messages that are sent at once; pictures may have more


def first(ctx: Around) -> Mapping[str, Any]:
    """Return what a first frame needs of what surrounds a screen. Raises UserError where that is elsewhere itself."""
    here = _here(ctx)
    home, data, services = here.paths.home, here.paths.data, here.plugins.offered("services")
    return {"home": str(home), "data": str(data), "services": list(services)}


def _here(ctx: Around) -> PluginContext:
    if not isinstance(ctx, PluginContext):
        raise UserError("This screen knows a host alone.")
    return ctx


async def told(around: Around, what: str, given: Mapping[str, Any]) -> Any:
    """Answer, as JSON; None for a session that is not there. Raises HermesError."""
    ctx = _here(around)
    sessions, owner, session = ctx.sessions, ctx.owner, str(given.get("session") or "")
    match what:
        case "get":
            try:
                return session_to_json(await sessions.get(owner, session))
            except UnknownName:
                return None
        case "read":
            return await _read(ctx, session, _whole(given, "around"), _whole(given, "window"))
        case "rows":
            rows = await sessions.rows(owner, limit=_whole(given, "limit"))
            return [{**asdict(row, recurse=False), **_plain(row)} for row in rows]
        case "search":
            sort = given.get("sort")
            hits = await sessions.search(
                owner,
                str(given.get("words") or ""),
                limit=_whole(given, "limit"),
                sort=sort if sort in ("newest", "oldest") else "best",
            )
            return [asdict(hit) for hit in hits]
        case "usage":
            return [asdict(row) for row in await sessions.usage(owner, days=_whole(given, "days"))]
        case "rename":
            return session_to_json(await sessions.rename(owner, session, str(given.get("title") or "")))
        case "delete":
            await sessions.delete(owner, session)
            return None
        case "fork":
            return session_to_json(await sessions.fork(owner, session))
        case "screens":
            from hermes_tool_kit.screens import screens_of

            return [one.name for one in screens_of(ctx, str(given.get("service") or ""))]
    raise UserError(f"Nobody here knows of {what!r}.")


async def _read(ctx: PluginContext, session: str, around: int, window: int) -> Any:
    try:
        pairs = await ctx.sessions.read(ctx.owner, session, around=around, window=window)
    except UnknownName:
        return None
    found = [(number, message_to_json(message)) for number, message in pairs]
    return found if sum(len(json.dumps(one)) for _, one in found) <= _LARGE else "large"


def _plain(row: Any) -> Mapping[str, Any]:
    return {"session": session_to_json(row.session), "usage": asdict(row.usage)}


def _whole(given: Mapping[str, Any], name: str) -> int:
    """Return a number that was given. Raises UserError."""
    if type(number := given.get(name)) is not int:
        raise UserError(f"{name} is a number.")
    return number
