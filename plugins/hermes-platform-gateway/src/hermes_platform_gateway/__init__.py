"""The gateway: being reached on chat services, with what is kept of that, and the commands that keep it running."""

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from hermes_core import hookimpl
from hermes_core.types import Command, Migration, SlashCommand

if TYPE_CHECKING:
    import click

    from hermes_core.brokers import Mailbox
    from hermes_core.context import PluginContext
_COMMANDS = {  # name -> (module below cli, what makes it)
    "gateway run": ("serving", "make_run"),
    "gateway work": ("serving", "make_work"),
    "gateway start": ("processes", "make_start"),
    "gateway stop": ("processes", "make_stop"),
    "gateway status": ("processes", "make_status"),
    "gateway pair": ("pairing", "make_pair"),
    "gateway channels": ("channels", "make_channels"),
    "gateway install": ("systemd", "make_install"),
    "gateway uninstall": ("systemd", "make_uninstall"),
}


@hookimpl
def register_cli_commands(ctx: "PluginContext") -> Iterable[Command]:
    """``hermes gateway``; each command is imported when it is made."""

    def build(module: str, maker: str) -> "click.Command":
        return getattr(import_module(f"hermes_platform_gateway.cli.{module}"), maker)(ctx)  # type: ignore[no-any-return]

    return [Command(name=name, build=partial(build, *where)) for name, where in _COMMANDS.items()]


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
