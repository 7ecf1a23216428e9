"""Counts turns, model calls and tool calls, and shows the figures to Prometheus. Only a gateway counts."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Command, Routes
from hermes_tool_metrics.hearing import (
    on_fault,
    on_gateway_start,
    on_turn_end,
    on_turn_start,
    post_llm_call,
    post_tool_call,
)

__all__ = ["on_fault", "on_gateway_start", "on_turn_end", "on_turn_start", "post_llm_call", "post_tool_call"]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``metrics``."""
    from hermes_tool_metrics.command import make_metrics
    from hermes_tool_metrics.config import Config

    return [
        Command(
            name="metrics",
            build=lambda: make_metrics(ctx.config or Config()),
        )
    ]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """The figures, for who has a key of the API."""
    from hermes_tool_metrics.route import figures

    return [figures(ctx)]
