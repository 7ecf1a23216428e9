"""What is imported when it is first needed: a session that changes nothing does not pay for it."""

from hermes_core.context import PluginContext
from hermes_core.types import Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_checkpoints.keeper import Keeper


def keeper_for(ctx: PluginContext) -> "Keeper":
    """The keeper of a kernel."""
    from hermes_tool_checkpoints.keeper import keeper_of

    return keeper_of(ctx)


def rollback_for(ctx: PluginContext) -> SlashCommand:
    """``/rollback``."""

    async def run(session: Session, rest: str) -> str:
        from hermes_tool_checkpoints.slash import rollback

        return await rollback(keeper_for(ctx).store, keeper_for(ctx).notes, session, rest)

    summary = "bring files back to how they were"
    return SlashCommand(name="rollback", summary=summary, run=run, usage="[N [FILE]|diff N]")
