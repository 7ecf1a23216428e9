"""Remembers in MEMORY.md and USER.md, two small files that a person can read and edit."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory, Tool
from hermes_core.types import Check, Command, SlashCommand
from hermes_memory_files.live import pre_tool_call as pre_tool_call
from hermes_memory_files.live import transform_prompt as transform_prompt


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
