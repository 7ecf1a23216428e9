"""What doctor may ask: whether each server answers, and what of its settings cannot be."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding
from hermes_tool_mcp.config import Config, ServerSettings

__all__ = ["checks"]


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        config: Config = ctx.config or Config()
        used = {name: one for name, one in config.servers.items() if one.enabled}
        if not used:
            return [Finding(level="ok", text="No MCP server is set up")]
        return await asyncio.gather(*(_found(ctx, name, one) for name, one in used.items()))

    return [Check(name="mcp", run=run)]


async def _found(ctx: PluginContext, name: str, server: ServerSettings) -> Finding:
    from hermes_tool_mcp.known import lists_of
    from hermes_tool_mcp.pool import pool_of

    if bool(server.command) == bool(server.url):
        text = f"The MCP server {name} needs either a command or a url"
        return Finding(level="fault", text=text, fix=f"{ctx.program} config edit")
    pool, holder = pool_of(ctx), f"doctor {name}"
    try:
        await pool.hold(holder, name, server, ctx.owner).client()
    except HermesError as error:
        return Finding(level="fault", text=error.text, fix=error.hint or f"{ctx.program} mcp test {name}")
    finally:
        await pool.release(holder)
    listed = lists_of(ctx).get(name, server)
    return Finding(level="ok", text=f"The MCP server {name} answers, with {len(listed.tools) if listed else 0} tools")
