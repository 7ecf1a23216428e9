"""The tools of a home that has a vault; the same ones as long as its kernel lives."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool
from hermes_tool_vault.fetch import make_fetch
from hermes_tool_vault.listing import make_list
from hermes_tool_vault.run import make_run
from hermes_tool_vault.typing_in import make_fill

__all__ = ["tools_of"]


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""
    if "tools" not in ctx.state:
        ctx.state["tools"] = (make_list(ctx), make_run(ctx), make_fetch(ctx), make_fill(ctx))
    found: Sequence[Tool] = ctx.state["tools"]
    return found
