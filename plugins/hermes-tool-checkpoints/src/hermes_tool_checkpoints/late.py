"""What is imported when it is first needed: a session that changes nothing does not pay for it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Check, Command, Session, SlashCommand

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


def commands_for(ctx: PluginContext) -> Sequence[Command]:
    """``hermes checkpoints …``."""
    from hermes_tool_checkpoints.commands import commands

    return commands(keeper_for(ctx).store, keeper_for(ctx).notes)


def tidying_for(ctx: PluginContext) -> Service:
    """The service that keeps the snapshots small."""
    from hermes_tool_checkpoints.service import Tidying

    return Tidying(lambda: keeper_for(ctx).store)


def last_tidying_for(ctx: PluginContext) -> Check:
    """What doctor is told of it."""
    from hermes_tool_checkpoints.service import last_tidying

    return last_tidying(lambda: keeper_for(ctx).store)
