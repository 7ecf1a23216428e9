"""One login, from the address that a person opens to the tokens that are kept."""

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.login import Callback, Tokens, new_login, read_answer

if TYPE_CHECKING:
    from hermes_tool_mcp.lists import Listed

__all__ = ["logged_in"]


async def logged_in(ctx: PluginContext, name: str, server: ServerSettings, *, paste: bool) -> "Listed":
    """Have a person log in, and return what the server has then. Raises HermesError."""
    import click

    from hermes_tool_mcp.connection import Connection
    from hermes_tool_mcp.lists import Listed
    from hermes_tool_mcp.reach import opening

    tokens, learned = Tokens(ctx.paths.data, name, server.url), list[Listed]()
    async with Callback() as callback:

        async def show(where: str) -> None:
            click.echo(f"Open this page and agree there:\n\n{where}\n")
            if paste:
                click.echo("Then paste the address that the browser ended at:")

        async def answer() -> Any:
            if paste:
                line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
                return read_answer(line)
            return read_answer(await callback.answer())

        auth = new_login(ctx, name, server, tokens, callback.address, show, answer)
        patient = _patient(server)
        connection = Connection(name, patient, opening(ctx, name, patient, "", auth), learned.append, ctx.log)
        try:
            await connection.client()
        finally:
            await connection.close()
    if not tokens.there:
        raise UserError(f"{name} wanted no login; it answers without one.")
    lists_of(ctx).put(name, learned[-1])
    return learned[-1]


def _patient(server: ServerSettings) -> ServerSettings:
    """Return the settings with time for a person in them."""
    said = {name: getattr(server, name) for name in ("url", "transport", "headers", "client_id", "client_secret")}
    return ServerSettings(**said, connect_timeout=600.0)
