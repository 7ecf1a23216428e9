"""Remembers by mem0: a model takes facts out of what is said, and they are found by what they mean."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory, Tool
from hermes_core.types import Check, Command


@hookimpl
def register_memories(ctx: PluginContext) -> Sequence[Memory]:
    """The memory ``mem0``."""
    from hermes_memory_mem0.memory import Mem0Memory

    return [Mem0Memory.of(ctx)]


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tools ``mem0_search`` and ``mem0_memory``, for when it is the memory in use."""
    from hermes_memory_kit.tool import memory_tools
    from hermes_memory_mem0.memory import Mem0Memory

    return memory_tools(Mem0Memory.of(ctx))


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes mem0``: what is kept of a person, and what they do about it."""
    from hermes_memory_kit.commands import memory_commands
    from hermes_memory_mem0.memory import Mem0Memory

    return memory_commands(ctx, "mem0", lambda: Mem0Memory.of(ctx))


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether the models that mem0 needs answer."""
    from hermes_memory_mem0.checks import check_models

    return [check_models(ctx)]
