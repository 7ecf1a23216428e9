"""Compacts a conversation that grows too long for its model, and keeps what the task needs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Request, Response, Session, SlashCommand

if TYPE_CHECKING:
    from hermes_memory_compressor.compressor import Compressor


def _compressor(ctx: PluginContext) -> "Compressor":
    """The one of this kernel."""
    if "compressor" not in ctx.state:
        from hermes_memory_compressor.compressor import Compressor

        ctx.state["compressor"] = Compressor(ctx)
    made: Compressor = ctx.state["compressor"]
    return made


@hookimpl(tryfirst=True)
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Compact before a request that is over the threshold. First, so that no other plugin's addition is taken up."""
    from hermes_memory_compressor.meter import is_due

    return await _compressor(ctx).before(session, request) if is_due(ctx, session, request) else None


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, request: Request, response: Response) -> None:
    """Learn how many tokens a request really had."""
    from hermes_memory_compressor.meter import meter_of

    meter_of(ctx).learn(session.id, request, response.usage)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session) -> None:
    """Delete the pins that an older version kept in a file; those in the store go with the session."""
    from hermes_memory_compressor.pins import Pins

    await Pins(ctx.documents, ctx.paths.data).forget_old(session)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/compress`` and ``/pin``."""
    from hermes_memory_compressor.commands import slash_commands

    return slash_commands(ctx, lambda: _compressor(ctx))
