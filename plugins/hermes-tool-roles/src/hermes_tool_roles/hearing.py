"""The hooks that are called while people speak: each leads to the part that answers it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Envelope, Protected, Response, Session, Verdict

__all__ = ["admit", "on_turn_end", "post_llm_call", "pre_tool_call"]


@hookimpl
async def admit(ctx: PluginContext, envelope: Envelope) -> Verdict | None:
    """Take note of who opened a group, and of whom the strangers in it count for."""
    from hermes_tool_roles.made import accounts_of

    await accounts_of(ctx).heard(envelope)
    return None


@hookimpl
async def pre_tool_call(
    ctx: PluginContext,
    session: Session,
    effects: frozenset[Effect],
    workspace: Workspace,
    walled: bool,
    protected: Protected,
    touches: Sequence[str] | None,
) -> Verdict | None:
    """Keep people to their own folder, and to where their commands may run."""
    from hermes_tool_roles.made import gate_of

    return gate_of(ctx).judge(session, effects, workspace, walled=walled, opened=protected.readable, touches=touches)


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, response: Response) -> None:
    """A reply is booked: the next one may look what is left."""
    from hermes_tool_roles.made import purse_of

    await purse_of(ctx).landed(session, response.usage)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    """Nothing of the turn is under way any more."""
    from hermes_tool_roles.made import purse_of

    await purse_of(ctx).landed(session)
