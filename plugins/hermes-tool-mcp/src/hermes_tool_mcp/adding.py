"""Adding a server: checked, connected to, written down, and what is told of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_tool_mcp.config import Config, ServerSettings
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.live import changed_since, filled, tell

if TYPE_CHECKING:
    from hermes_tool_mcp.lists import Listed, ListedTool

__all__ = ["added", "asked", "checked", "first_line", "known", "shown", "tell_left", "tell_of"]


async def added(ctx: PluginContext, name: str, row: Mapping[str, JSON], *, untested: bool = False) -> None:
    """Add a server by its settings, once it answered; say what it has. Raises HermesError."""
    import click

    if name in known(ctx):
        raise UserError(f"There is an MCP server {name} already.", hint=f"{ctx.program} mcp remove {name}")
    checked(name, row)
    server = checked(name, filled(ctx, dict(row)))
    listed = None if untested else await asked(ctx, name, server)
    await ctx.settings.set(f"mcp.servers.{name}", json.dumps(row))
    tell(ctx, name, row)
    click.echo(f"Added {name}. Its tools are there from the next turn on.")
    if listed:
        tell_of(ctx, name, listed)


def known(ctx: PluginContext) -> Mapping[str, ServerSettings]:
    """Return all servers by name, those that are off, too."""
    config: Config = ctx.config or Config()
    there = {**config.servers, **changed_since(ctx)}
    return {name: one for name, one in there.items() if one}


def checked(name: str, row: Mapping[str, JSON]) -> ServerSettings:
    """Return the settings of a server. Raises UserError for what cannot be."""
    try:
        server = ServerSettings(**row)
        Config(servers={name: server})
    except ValueError as error:
        raise UserError(str(error)) from error
    return server


async def asked(ctx: PluginContext, name: str, server: ServerSettings) -> "Listed":
    """Connect and return what it has, which is kept. Raises HermesError."""
    from hermes_tool_mcp.pool import pool_of

    pool, holder = pool_of(ctx), f"command {name}"
    try:
        await pool.hold(holder, name, server, ctx.owner, str(Path.cwd())).client()
    finally:
        await pool.release(holder)
    listed = lists_of(ctx).get(name, server)
    assert listed is not None, "it is kept before a connection counts as made"
    return listed


def tell_left(listed: "Listed") -> None:
    """Say which tools of a server cannot be used."""
    import click

    for one in listed.left:
        click.echo(shown(f"{one['name']} cannot be used: {one['why']}."), err=True)


def tell_of(ctx: PluginContext, name: str, listed: "Listed") -> None:
    """Say what a server has, and what of it a person should look at."""
    import click

    from hermes_tool_kit.injection import scan

    parts = [f"{len(listed.tools)} tools"]
    parts += [f"{len(listed.prompts)} prompts (/prompt {name}:NAME)"] if listed.prompts else []
    parts += ["resources"] if listed.resources else []
    parts += [f"{len(listed.skills)} skills"] if listed.skills else []
    click.echo(shown(f"{name}: {listed.title or 'it'} speaks {listed.protocol} and has {', '.join(parts)}."))
    for one in listed.tools[:20]:
        click.echo(f"  {shown(f'{one.name}: {first_line(one)}')}")
    if len(listed.tools) > 20:
        click.echo(f"  … {len(listed.tools) - 20} more: {ctx.program} mcp tools {name}")
    tell_left(listed)
    for one in listed.tools:
        if why := scan(one.description):
            click.echo(
                f"Look at {shown(one.name)} before you use it: its description reads like orders ({why}).", err=True
            )


def first_line(one: "ListedTool") -> str:
    """Return the begin of what a tool says of itself."""
    return next(iter(one.description.splitlines()), "")[:90]


def shown(text: str) -> str:
    """Return what others wrote as a terminal may be given it: nothing in it moves the cursor or hides words."""
    return "".join(one if one.isprintable() else "�" for one in text)
