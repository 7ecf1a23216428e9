"""Sends messages to the chats of the person it works for."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Command, Session, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``message``."""
    from hermes_tool_message.tool import message_tool

    return [message_tool(ctx.messages, ctx.paths)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes send``."""
    from hermes_tool_message.command import send

    return [Command(name="send", build=lambda: send(ctx))]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Once a person wrote in a chat, the tool is offered to them in terminals too."""
    from hermes_tool_message.tool import note_chat

    note_chat(ctx.paths.data, session)


@hookimpl
async def on_gateway_start(ctx: PluginContext) -> None:
    """Whoever has targets that are no chats has the tool, though they never wrote in a chat."""
    from hermes_tool_message.tool import note_person

    if await ctx.messages.targets(ctx.owner):
        note_person(ctx.paths.data, ctx.owner)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session, erased: bool) -> None:
    """Of a person who is erased nothing stays."""
    if erased:
        from hermes_tool_message.tool import forget_chat

        forget_chat(ctx.paths.data, session)


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say of a call of the tool whether anybody else would read what it sends."""
    if call.name != "message":
        return None
    from hermes_tool_message.gate import judge

    return await judge(ctx.messages, session, call)
