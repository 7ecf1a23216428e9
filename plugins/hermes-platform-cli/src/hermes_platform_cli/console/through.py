"""This terminal as a client of the host of its home, where a kernel is here already.

Where no host serves this terminal, nothing was done, and whoever asked does it by itself.
"""

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence

import click

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform
from hermes_front.wire import Lines, connect, frame, place_of
from hermes_platform_cli.console.elsewhere import LARGEST, Elsewhere
from hermes_platform_cli.console.line import Line

__all__ = ["by_itself", "through_host"]

_PATIENCE = 1.0  # seconds for a host to say whether it serves this terminal
_FLAGS = ("chat", "--cli", "--tui", "-c", "--continue")
_VALUES = ("-r", "--resume", "--interface", "-p", "--profile")


async def through_host(
    ctx: PluginContext, platform: Platform, session: str, require: Callable[[str, str], None]
) -> bool:
    """Have the host of this home carry a platform until those on it leave; False where none serves this terminal."""
    home = str(ctx.paths.home)
    connection = connect(place_of(home), _PATIENCE)
    if connection is None:  # it was killed
        from hermes_front.one_shot import begin_host, wants_host

        if wants_host(home):
            begin_host()
        return False
    why = by_itself(sys.argv[1:])
    why = f"{why} is not among what the host has" if why else _refused(ctx, connection, home)
    if why:
        connection.close()
        click.echo(f"The host of this home does not serve this terminal, which works by itself: {why}.", err=True)
        return False
    connection.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=connection, limit=LARGEST)
    who, line = (ctx.program, ctx.owner), Line(writer)
    if status := await Elsewhere(who, platform, session, reader, line, require=require).serve(ctx):
        raise click.exceptions.Exit(status)
    return True


def by_itself(words: Sequence[str]) -> str:
    """Return the first word of a command line that asks for what a host may not have; empty where there is none."""
    left = iter(words)
    for word in left:
        if word in _VALUES:
            next(left, None)
        elif word not in _FLAGS and not word.startswith(("--resume=", "--interface=", "--profile=")):
            return word
    return ""


def _refused(ctx: PluginContext, connection: socket.socket, home: str) -> str:
    """Say who is here, and return why the host does not serve it; empty where it does."""
    from hermes_front.one_shot import hello

    told = hello(__version__, home, do="console")
    if not told["cwd"]:
        return "its folder is gone"
    try:
        connection.sendall(frame(**told))
        said = next(iter(Lines(connection)), {"no": "it closed the connection"})
    except (OSError, ValueError) as error:
        said = {"no": str(error)}
    if "no" not in said:
        return ""
    if said["no"] == "version":
        anew = said.get("anew") or f"Begin it anew: {ctx.program} gateway stop, then {ctx.program} gateway start"
        return f"it runs {said.get('version')}, not {__version__}. {anew}"
    return str(said["no"])
