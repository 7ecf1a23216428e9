"""Who the agent is, and how it speaks: SOUL.md and personalities."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Envelope, Prompt, Request, Session, SlashCommand


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
async def transform_incoming(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:
    """Tell a change of personality with the next message: a prompt never changes."""
    if not session_id or not ctx.paths.data.is_dir():
        return None
    from hermes_tool_persona.overlay import Overlays

    return await asyncio.to_thread(Overlays(ctx.paths.data).add, session_id, envelope)


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> None:
    """Notice that a compacted conversation does not say any more how to speak."""
    if ctx.paths.data.is_dir():
        from hermes_tool_persona.overlay import Overlays

        await asyncio.to_thread(Overlays(ctx.paths.data).check, session.id, request.messages)


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, request: Request) -> None:
    """What a model has answered to, it has heard."""
    if ctx.paths.data.is_dir():
        from hermes_tool_persona.overlay import Overlays

        await asyncio.to_thread(Overlays(ctx.paths.data).heard, session.id, request.messages)
