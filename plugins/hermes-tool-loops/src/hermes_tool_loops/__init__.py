"""Warns a model that goes round in circles, then has a person decide."""

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Session, Text, ToolCall, ToolResult, Verdict


@hookimpl(tryfirst=True)  # what others add to a result would make equal ones different
async def transform_tool_result(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    result: ToolResult,
    looks: bool,
    touches: frozenset[str],
    twin: bool,
) -> ToolResult | None:
    """Tell the model when a call comes out the same way again."""
    from hermes_tool_loops.loops import Loops

    if twin:
        return None
    loops = ctx.state.setdefault(session.turn, Loops())
    notice = loops.look(call, result, looks=looks, touches=touches)
    return evolve(result, parts=(*result.parts, Text(text=f"\n[{notice}]"))) if notice else None


@hookimpl
async def next_step(ctx: PluginContext, session: Session) -> Verdict | None:
    """Leave it to the person once a call came out the same way too often; if they go on, count anew."""
    loops = ctx.state.get(session.turn)
    loop = loops.taken() if loops else ""
    return Verdict(outcome="ask", reason=loop) if loop else None


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    """Forget the turn."""
    ctx.state.pop(session.turn, None)
