"""Who the agent is, and how it speaks: SOUL.md and personalities."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Envelope, Principal, Prompt, Request, Session, SlashCommand


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/personality``."""
    from hermes_tool_persona.command import personality_command

    return [personality_command(ctx)]


@hookimpl
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Put SOUL.md in the place of the usual identity, and the usual personality below it. Once for each session."""
    if not ctx.config.personality and not (ctx.config.soul and (ctx.paths.home / "SOUL.md").exists()):
        return None
    from hermes_tool_persona.identity import with_persona

    return await with_persona(ctx, session, prompt)


@hookimpl
async def transform_incoming(
    ctx: PluginContext, envelope: Envelope, session_id: str, owner: Principal
) -> Envelope | None:
    """Tell a change of personality with the next message: a prompt never changes."""
    if not session_id:
        return None
    ctx.state.pop("plain", None)
    from hermes_tool_persona.overlay import Overlays

    return await Overlays(ctx.documents, ctx.paths.data, owner).add(session_id, envelope)


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, request: Request) -> None:
    """What a model has answered to, it has heard; what a compacted conversation does not say any more, it has not."""
    turn = session.id, session.turn
    if session.turn and ctx.state.get("plain") == turn:  # there was nothing to tell when this turn first answered
        return
    from hermes_tool_persona.overlay import Overlays

    if not await Overlays(ctx.documents, ctx.paths.data, session.owner).answered(session.id, request.messages):
        ctx.state["plain"] = turn
