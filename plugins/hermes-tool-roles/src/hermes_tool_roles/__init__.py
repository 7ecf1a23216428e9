"""Says what people other than the owner may do, and spend, wherever they speak."""

from collections.abc import Iterable, Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Purse, Roles, Workspace
from hermes_core.types import Command, Effect, Envelope, Protected, Response, Session, Verdict


@hookimpl
def register_roles(ctx: PluginContext) -> Iterable[Roles]:
    """The roles of this home."""
    from hermes_tool_roles.made import roles_of

    return [roles_of(ctx)]


@hookimpl
def register_purses(ctx: PluginContext) -> Iterable[Purse]:
    """What each person may spend in a day, over all places."""
    from hermes_tool_roles.made import purse_of

    return [purse_of(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``roles``."""
    from hermes_tool_roles.command import make_roles

    return [Command(name="roles", build=lambda: make_roles(ctx))]


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
