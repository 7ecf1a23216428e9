"""Who is blocked: asked for each message, turn and step of somebody, and so looked up for all of them at once."""

import time

from hermes_core.context import PluginContext
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["blocks", "changed"]

_FRESH = 0.5  # seconds for which what was looked up holds, where another process may change it
_KNOWN = "blocks"


async def blocks(ctx: PluginContext) -> frozenset[str]:
    """Return the persons, accounts and groups that are blocked; the owner never is."""
    at, known = ctx.state.get(_KNOWN, (0.0, frozenset[str]()))
    now = time.monotonic()
    if not at or now - at > _FRESH:
        known = frozenset(await rows_of(ctx).restrictions.blocked()) - {OWNER}
        ctx.state[_KNOWN] = now, known
    found: frozenset[str] = known
    return found


def changed(ctx: PluginContext) -> None:
    """Somebody was blocked, or let back in, by this process: it holds here at once."""
    ctx.state.pop(_KNOWN, None)
