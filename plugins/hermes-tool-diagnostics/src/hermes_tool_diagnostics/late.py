"""What the hooks share, made when the first of them needs it."""

from typing import TYPE_CHECKING

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    from hermes_tool_diagnostics.watching import Watch

__all__ = ["watch_of"]


def watch_of(ctx: PluginContext) -> "Watch":
    """The watch of this kernel."""
    from hermes_tool_diagnostics.watching import Watch

    if "watch" not in ctx.state:
        ctx.state["watch"] = Watch(ctx)
    return ctx.state["watch"]  # type: ignore[no-any-return]
