"""For authors of plugins: begin one, check it, see what it reaches for."""

from collections.abc import Sequence

from hermes_core.hooks import hookimpl
from hermes_core.types import Command


@hookimpl
def register_cli_commands() -> Sequence[Command]:
    """``plugins new``, ``plugins check``, ``plugins audit``."""
    from hermes_tool_authoring import commands

    return [
        Command(name="plugins new", build=commands.make_new),
        Command(name="plugins check", build=commands.make_check),
        Command(name="plugins audit", build=commands.make_audit),
    ]
