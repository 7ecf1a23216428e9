"""Remembers in MEMORY.md and USER.md, two small files that a person can read and edit."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory, Tool
from hermes_core.types import Check, Command, Prompt, PromptBlock, Session, SlashCommand, ToolCall, Verdict


@hookimpl
def register_memories(ctx: PluginContext) -> Sequence[Memory]:
    """The memory ``files``."""
    from hermes_memory_files.memory import FilesMemory

    return [FilesMemory.of(ctx)]


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``memory``, through which a model keeps facts."""
    from hermes_memory_files.memory import FilesMemory
    from hermes_memory_files.tool import memory_tool

    return [memory_tool(FilesMemory.of(ctx))]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Ask before something is remembered that a tool gave and the person never said."""
    if call.name != "memory" or (ctx.config and ctx.config.approval):  # then a person decides about all of it
        return None
    from hermes_memory_files.borrowed import judge

    return await judge(ctx.sessions, session, call)


@hookimpl
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Say who the person is where another memory is in use, too: that they said themselves, whoever keeps the rest."""
    if session.origin == "child" or "memory" in prompt.tools or "memory" not in prompt.tools.values():
        return None
    from attrs import evolve

    from hermes_memory_files.memory import FilesMemory

    memory = FilesMemory.of(ctx)
    if any(memory.is_in(block.text) for block in prompt.blocks) or not (text := memory.profile(session.owner)):
        return None
    return evolve(prompt, blocks=(*prompt.blocks, PromptBlock(name="user", text=text, tier="volatile")))


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """What doctor can find out about the two files."""
    from hermes_memory_files.checks import check_files
    from hermes_memory_files.memory import FilesMemory

    return [check_files(FilesMemory.of(ctx))]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes memory`` and ``hermes user``: what is kept of a person, and what they do about it."""
    from hermes_memory_files.commands import commands

    return commands(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/memory`` and ``/user``: the same for a person in their conversation."""
    from hermes_memory_files.slash import slash_commands

    return slash_commands(ctx)
