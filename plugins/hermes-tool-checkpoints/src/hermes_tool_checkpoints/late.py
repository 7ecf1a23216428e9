"""What is imported when it is first needed: a session that changes nothing does not pay for it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Check, Command, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_checkpoints.snapshots import Snapshots


def snapshots_for(ctx: PluginContext) -> "Snapshots":
    """The snapshots of a kernel, one and the same for all its hooks and commands."""
    if (made := made_snapshots(ctx)) is None:
        from hermes_tool_checkpoints.snapshots import make_snapshots

        made = ctx.state["snapshots"] = make_snapshots(ctx)
    return made


def made_snapshots(ctx: PluginContext) -> "Snapshots | None":
    """The snapshots of a kernel that needed some so far."""
    made: Snapshots | None = ctx.state.get("snapshots")
    return made


async def ended(ctx: PluginContext, session: Session) -> None:
    """A session comes to rest: what was read for its snapshots is let go."""
    if snapshots := made_snapshots(ctx):
        await snapshots.end(session)


def rollback_for(ctx: PluginContext) -> SlashCommand:
    """``/rollback``."""

    async def run(session: Session, rest: str) -> str:
        from hermes_tool_checkpoints.slash import rollback

        return await rollback(snapshots_for(ctx).store, snapshots_for(ctx).notes, session, rest)

    return SlashCommand(name="rollback", run=run)


def commands_for(ctx: PluginContext) -> Sequence[Command]:
    """``hermes checkpoints …``."""
    from hermes_tool_checkpoints.commands import commands

    return commands(snapshots_for(ctx).store, snapshots_for(ctx).notes)


def tidying_for(ctx: PluginContext) -> Service:
    """The service that keeps the snapshots small."""
    from hermes_tool_checkpoints.service import Tidying

    return Tidying(lambda: snapshots_for(ctx).store)


def last_tidying_for(ctx: PluginContext) -> Check:
    """What doctor is told of it."""
    from hermes_tool_checkpoints.service import last_tidying

    return last_tidying(lambda: snapshots_for(ctx).store)
