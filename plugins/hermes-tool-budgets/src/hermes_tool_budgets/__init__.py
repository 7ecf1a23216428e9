"""Limits what a turn, a session and a day may spend: model calls, tokens, money, time."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Purse


@hookimpl
def register_purses(ctx: PluginContext) -> Sequence[Purse]:
    """The purse of this home."""
    from hermes_tool_budgets.config import Config
    from hermes_tool_budgets.purse import Budget

    return [Budget(ctx.config or Config(), ctx.sessions)]
