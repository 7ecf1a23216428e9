"""Limits what a turn, a session and a day may spend: model calls, tokens, money, time."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Purse
from hermes_core.types import Response, Session, Usage


@hookimpl
def register_purses(ctx: PluginContext) -> Sequence[Purse]:
    """The purse of this home."""
    from hermes_tool_budgets.config import Config
    from hermes_tool_budgets.process import Process
    from hermes_tool_budgets.purse import Budget

    process = Process(ctx.paths.data / "processes")
    ctx.state["budget"] = Budget(ctx.config or Config(), ctx.sessions, ctx.documents, process)
    return [ctx.state["budget"]]


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, response: Response) -> None:
    """A reply is booked: the next one may look what is left."""
    if budget := ctx.state.get("budget"):
        await budget.landed(session, response.usage)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    """Nothing of the turn is under way any more."""
    if budget := ctx.state.get("budget"):
        await budget.landed(session, Usage())
