"""Remembers facts in the store and finds them by what they mean."""

from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory, Tool
from hermes_core.types import Check, Command, Migration


@hookimpl
def register_memories(ctx: PluginContext) -> Sequence[Memory]:
    """The memory ``vector``."""
    from hermes_memory_vector.memory import VectorMemory

    return [VectorMemory.of(ctx)]


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tools ``vector_search`` and ``vector_memory``, for when it is the memory in use."""
    from hermes_memory_kit.tool import memory_tools
    from hermes_memory_vector.memory import VectorMemory

    return memory_tools(VectorMemory.of(ctx))


@hookimpl
def register_migrations(ctx: PluginContext) -> Sequence[Migration]:
    """The table of memos."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes vector``: what is kept of a person, and what they do about it."""
    from hermes_memory_kit.commands import memory_commands
    from hermes_memory_vector.memory import VectorMemory

    return memory_commands(ctx, "vector", lambda: VectorMemory.of(ctx))


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether a model for vectors answers."""
    from hermes_memory_vector.checks import check_meaning

    return [check_meaning(ctx)]
