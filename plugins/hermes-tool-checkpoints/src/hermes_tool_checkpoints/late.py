"""What is imported when it is first needed: a session that changes nothing does not pay for it."""

from hermes_core.context import PluginContext
from hermes_core.types import Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_checkpoints.keeper import Keeper


def keeper_for(ctx: PluginContext) -> "Keeper":
    """The keeper of a kernel, one and the same for all its hooks and commands."""
    if (made := made_keeper(ctx)) is None:
        from hermes_tool_checkpoints.keeper import make_keeper

        made = ctx.state["keeper"] = make_keeper(ctx)
    return made


def made_keeper(ctx: PluginContext) -> "Keeper | None":
    """The keeper of a kernel that needed one so far."""
    made: Keeper | None = ctx.state.get("keeper")
    return made


def rollback_for(ctx: PluginContext) -> SlashCommand:
    """``/rollback``."""

    async def run(session: Session, rest: str) -> str:
        from hermes_tool_checkpoints.slash import rollback

        return await rollback(keeper_for(ctx).store, keeper_for(ctx).notes, session, rest)

    summary = "bring files back to how they were"
    return SlashCommand(name="rollback", summary=summary, run=run, usage="[N [FILE]|diff N]", who="everyone")
