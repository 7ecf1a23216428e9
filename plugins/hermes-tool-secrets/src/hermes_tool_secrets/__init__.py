"""Reads secrets from pass, 1Password, Bitwarden and programs of your own."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import SecretSource
from hermes_core.types import Check, Command


@hookimpl
def register_secret_sources(ctx: PluginContext) -> Iterable[SecretSource]:
    """The sources ``pass``, ``op``, ``bws`` and ``command``."""
    from hermes_tool_secrets.sources import sources_of

    return sources_of(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes secrets list|check``."""
    from hermes_tool_secrets.commands import commands

    return commands(ctx)


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """Whether the programs that are needed are there; ``doctor --secret-stores`` asks for each secret."""
    from hermes_tool_secrets.commands import check_of

    return [check_of(ctx)]
