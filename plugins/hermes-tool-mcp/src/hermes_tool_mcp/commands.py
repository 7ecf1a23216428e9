"""``hermes mcp``: what a person does with servers at a terminal."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.types import JSON, Command
from hermes_tool_mcp.adding import asked, checked, first_line, known, shown, tell_left, tell_of
from hermes_tool_mcp.catalog_command import catalog
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.live import tell

if TYPE_CHECKING:
    import click


__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    made = {
        "list": _list,
        "tools": _tools,
        "add": _add,
        "import": _import,
        "test": _test,
        "login": _login,
        "logout": _logout,
        "remove": _remove,
        "catalog": catalog,
    }
    return [Command(name=f"mcp {name}", build=partial(make, ctx)) for name, make in made.items()]


def _server(ctx: PluginContext, name: str) -> ServerSettings:
    there = known(ctx)
    if name not in there:
        raise UnknownName("MCP server", name, there, hint=f"{ctx.program} mcp list shows them.")
    return there[name]


def _words(server: ServerSettings) -> str:
    return server.url or " ".join([server.command, *server.args])


def _list(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("list")
    @click.option("--json", "as_json", is_flag=True, help="As JSON.")
    def command(as_json: bool) -> None:
        """Show the servers, and what each said that it has. Nothing is started or connected to."""
        rows = [_row(ctx, name, server) for name, server in known(ctx).items()]
        if as_json:
            click.echo(json.dumps(rows, ensure_ascii=False))
            return
        if not rows:
            click.echo(f"There is no MCP server. Add one: {ctx.program} mcp add --help")
            return
        width = max(len(row["name"]) for row in rows)
        for row in rows:
            click.echo(f"{row['name']:<{width}}  {row['state']:<14}  {row['reached']}")

    return command


def _row(ctx: PluginContext, name: str, server: ServerSettings) -> dict[str, Any]:
    listed = lists_of(ctx).get(name, server)
    if not server.enabled:
        state = "off"
    elif bool(server.command) == bool(server.url):
        state = "needs one of command and url"
    else:
        state = f"{len(listed.tools)} tools" if listed else "not asked yet"
    return {
        "name": name,
        "state": state,
        "reached": ctx.masks.text(_words(server)),
        "protocol": listed.protocol if listed else "",
    }


def _tools(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("tools")
    @click.argument("name")
    def command(name: str) -> None:
        """Show the tools of the server NAME as models know them, those that ask nobody with a star."""
        from fnmatch import fnmatchcase

        from hermes_tool_mcp.names import named
        from hermes_tool_mcp.tools import bounded, offered

        server = _server(ctx, name)
        listed = lists_of(ctx).get(name, server)
        if listed is None:
            raise UserError(f"Nobody has asked {name} yet what it has.", hint=f"{ctx.program} mcp test {name}")
        tools = {one.name: one for one in offered(server, listed)}
        for outer, inner in named(name, tools).items():
            free = bounded(server) or tools[inner].looks or any(fnmatchcase(inner, one) for one in server.allow)
            click.echo(f"{'*' if free else ' '} {outer}  {shown(first_line(tools[inner]))}")
        tell_left(listed)
        left = len(listed.tools) - sum(one.name in tools for one in listed.tools)
        if left:
            click.echo(f"{left} more are left out by include and exclude.")

    return command


def _add(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("add")
    @click.argument("name")
    @click.argument("what", nargs=-1, required=True)
    @click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable that it gets.")
    @click.option("--header", multiple=True, metavar="NAME=VALUE", help="What each request to an address carries.")
    @click.option("--host", multiple=True, help="A host that a started server may reach.")
    @click.option("--folder", default="", help="Where a started server works; else in the folder of the session.")
    @click.option("--sse", is_flag=True, help="An address that is spoken to the old way.")
    @click.option("--no-test", is_flag=True, help="Write it down without connecting to it.")
    async def command(name: str, what: tuple[str, ...], **given: Any) -> None:
        """Add a server: an address, or a program and what it is given behind --.

        It is connected to before it is written down. A program runs behind the wall of commands: it reaches the
        package registries, the hosts that you name, the folder it works in, and nothing else. Values may hold
        ${MCP_NAME}: `hermes config set MCP_NAME VALUE` keeps that as a secret first. Pin the version of what is
        fetched.
        """
        from hermes_tool_mcp.adding import added

        await added(ctx, name, _given(what, given), untested=given["no_test"])

    return command


def _given(what: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, JSON]:
    if what[0].startswith(("http://", "https://")) and len(what) == 1:
        row: dict[str, JSON] = {"url": what[0]}
        row |= {"transport": "sse"} if given["sse"] else {}
        row |= {"headers": _pairs(given["header"])} if given["header"] else {}
        return row
    row = {"command": what[0]}
    row |= {"args": list(what[1:])} if what[1:] else {}
    row |= {"env": _pairs(given["env"])} if given["env"] else {}
    row |= {"hosts": list(given["host"])} if given["host"] else {}
    row |= {"folder": str(Path(given["folder"]).expanduser().resolve())} if given["folder"] else {}
    return row


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UserError(f"{text!r} is no NAME=VALUE.")
        found[name.strip()] = value
    return found


def _import(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("import")
    @click.option("--all", "every", is_flag=True, help="Take over all of them, without a question for each.")
    @click.option("--list", "only_list", is_flag=True, help="Only show them.")
    async def command(every: bool, only_list: bool) -> None:
        """Take over servers from .mcp.json in this folder, and from Claude, Cursor, VS Code, Codex and Gemini.

        Each is shown with what would run, and nothing is started before you say yes. Keys in their settings become
        secrets of yours. They are used from the next conversation on, in every folder.
        """
        import os

        from hermes_tool_mcp.foreign import found, taken

        new = [one for one in found(Path.home(), Path.cwd()) if one.name not in known(ctx)]
        if not new:
            click.echo("There is no server that is not known here already.")
        for one in new:
            click.echo(shown(f"{one.name}, of {one.source} ({one.path}):"))
            click.echo(f"  {shown(one.words)}")
            if only_list or not (every or click.confirm("Take it over?", default=False)):
                continue
            row, secrets, wanting = taken(one, os.environ)
            checked(one.name, row)
            if wanting:  # settings that name a secret which is not there are refused
                said = "; ".join(f"{ctx.program} config set {secret} VALUE" for secret in wanting)
                click.echo(f"{one.name} was not added, as it needs secrets first: {said}; then import it again.")
                continue
            for secret, value in secrets.items():
                ctx.secrets.set(secret, value)
            await ctx.settings.set(f"mcp.servers.{one.name}", json.dumps(row))
            tell(ctx, one.name, row)
            click.echo(f"Added {one.name}. Try it: {ctx.program} mcp test {one.name}")

    return command


def _test(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("test")
    @click.argument("names", nargs=-1, metavar="[NAME]...")
    async def command(names: tuple[str, ...]) -> int:
        """Connect to servers, all of them where none is named, and show what each has.

        The exit status is 1 where one does not answer.
        """
        import asyncio

        wanted = names or tuple(name for name, one in known(ctx).items() if one.enabled)
        servers = {name: _server(ctx, name) for name in wanted}
        asking = (asked(ctx, name, server) for name, server in servers.items())
        answers = await asyncio.gather(*asking, return_exceptions=True)
        failed = 0
        for name, answer in zip(servers, answers, strict=True):
            if isinstance(answer, HermesError):
                failed = 1
                click.echo(f"{name}: {ctx.masks.text(str(answer))}", err=True)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                tell_of(ctx, name, answer)
        return failed

    return command


def _login(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("login")
    @click.argument("name")
    @click.option("--paste", is_flag=True, help="The browser is on another machine: paste where it ended.")
    async def command(name: str, paste: bool) -> None:
        """Log in to the server NAME. A page is named; open it, and agree there.

        Where the browser runs on this machine the answer comes by itself. Elsewhere use --paste: after you agreed the
        browser ends at an address that it cannot open; paste that.
        """
        from hermes_tool_mcp.logging_in import logged_in

        server = _server(ctx, name)
        if not server.url:
            raise UserError(f"{name} is started here and has no login.")
        if server.login == "client":
            raise UserError(f"{name} is logged in to by Hermes itself: {ctx.program} mcp test {name} tries it.")
        tell_of(ctx, name, await logged_in(ctx, name, server, paste=paste))

    return command


def _logout(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("logout")
    @click.argument("name")
    def command(name: str) -> None:
        """Forget the login of the server NAME; its tokens are deleted here."""
        from hermes_tool_mcp.login import Tokens

        there = Tokens(ctx.paths.data, name, "").forget()
        click.echo(f"The login of {name} is forgotten." if there else f"There is no login of {name}.")

    return command


def _remove(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("remove")
    @click.argument("name")
    async def command(name: str) -> None:
        """Take the server NAME away, with its login and what it fetched for itself."""
        import shutil

        from hermes_tool_mcp.login import Tokens

        _server(ctx, name)
        await ctx.settings.unset(f"mcp.servers.{name}")
        tell(ctx, name, None)
        Tokens(ctx.paths.data, name, "").forget()
        lists_of(ctx).forget(name)
        for folder in ("kept", "homes", "places"):
            shutil.rmtree(ctx.paths.cache / folder / name, ignore_errors=True)
        click.echo(f"Removed {name}.")

    return command
