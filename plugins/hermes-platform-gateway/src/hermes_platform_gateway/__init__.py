"""The gateway: being reached on chat services, with what is kept of that, and the commands that keep it running."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_core import hookimpl
from hermes_core.types import Command, Migration, SlashCommand

if TYPE_CHECKING:
    from hermes_core.brokers import Mailbox
    from hermes_core.context import PluginContext

__all__ = ["register_cli_commands", "register_mailboxes", "register_migrations", "register_slash_commands"]


@hookimpl
def register_cli_commands(ctx: "PluginContext") -> Iterable[Command]:
    """``hermes gateway``."""
    from hermes_platform_gateway.cli import commands

    return commands(ctx)


@hookimpl
def register_migrations() -> Iterable[Migration]:
    """What goes out, chats, session keys, and who may talk."""
    from hermes_platform_gateway.rows.kept import MIGRATION

    return [MIGRATION]


@hookimpl
def register_mailboxes(ctx: "PluginContext") -> "Iterable[Mailbox]":
    """Messages to the chats of a person."""
    from hermes_platform_gateway.messages import Messages

    return [Messages(ctx)]


@hookimpl
def register_slash_commands(ctx: "PluginContext") -> Iterable[SlashCommand]:
    """Commands about chats."""
    from hermes_platform_gateway.commands.places import chat_slash_commands

    return chat_slash_commands(ctx)
