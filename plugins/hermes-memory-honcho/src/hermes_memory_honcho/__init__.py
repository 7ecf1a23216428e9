"""Remembers by a server of Honcho, which thinks about who the person is."""

from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory, Tool
from hermes_core.types import Check, Command, Effect, Migration


@hookimpl
def register_memories(ctx: PluginContext) -> Sequence[Memory]:
    """The memory ``honcho``."""
    from hermes_memory_honcho.memory import HonchoMemory

    return [HonchoMemory.of(ctx)]


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tools ``honcho_search`` and ``honcho_memory``, for when it is the memory in use."""
    from hermes_memory_honcho.memory import HonchoMemory
    from hermes_memory_kit.tool import memory_tools

    return memory_tools(HonchoMemory.of(ctx), Effect.NETWORK)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes honcho``: what is kept of a person, and what they do about it."""
    from hermes_memory_honcho.memory import HonchoMemory
    from hermes_memory_kit.commands import memory_commands

    return memory_commands(ctx, "honcho", lambda: HonchoMemory.of(ctx))


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether the server answers."""
    from hermes_memory_honcho.checks import check_server

    return [check_server(ctx)]


@hookimpl
def register_migrations(ctx: PluginContext) -> Sequence[Migration]:
    """The table of where memos are from."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]
