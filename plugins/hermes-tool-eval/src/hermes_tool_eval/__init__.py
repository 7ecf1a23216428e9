"""Runs cases against models and prompts, and compares them."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Command


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes eval``."""
    from hermes_tool_eval.command import make_eval

    return [Command(name="eval", build=lambda: make_eval(ctx))]
