"""Hermes in an editor, over the Agent Client Protocol."""

from collections.abc import Iterable
from functools import partial

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Command

__all__ = ["register_cli_commands"]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes acp``."""
    from hermes_platform_acp.command import build

    return [Command(name="acp", build=partial(build, ctx))]
