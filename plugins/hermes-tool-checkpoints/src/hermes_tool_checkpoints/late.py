"""The keeper, imported when it is first needed: a session that changes nothing does not pay for it."""

from hermes_core.context import PluginContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_checkpoints.keeper import Keeper


def keeper_for(ctx: PluginContext) -> "Keeper":
    """The keeper of a kernel."""
    from hermes_tool_checkpoints.keeper import keeper_of

    return keeper_of(ctx)
