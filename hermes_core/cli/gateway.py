"""``hermes gateway``: being reached on chat services. Each command is imported when it runs."""

from importlib import import_module
from typing import Any

import click

__all__ = ["gateway"]

# name -> (module under hermes_core.cli, summary)
_COMMANDS = {
    "run": ("serving", "Serve the configured platforms in this terminal, until stopped."),
    "work": ("serving", "Only play turns, for gateways on this or other machines."),
    "start": ("serving", "The same as run, in the background."),
    "stop": ("serving", "Stop the gateway: running turns end, the rest goes on at the next start."),
    "status": ("serving", "What is served, and what waits to be answered or sent."),
    "pair": ("pairing", "Let strangers in who wait with a code, and others out."),
    "channels": ("channels", "The chats that are known."),
}


class _Later(click.Command):
    """Stands for a command until one asks for more than its name and summary."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self._module = module

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        command: click.Command = getattr(import_module(f"hermes_core.cli.{self._module}"), self.name or "")
        return command.make_context(info_name, args, parent, **extra)


@click.group(commands=[_Later(name, *where) for name, where in _COMMANDS.items()])
def gateway() -> None:
    """Be reached on chat services: one process that listens, answers, and loses no message.

    \b
    Examples:
      hermes gateway run
      hermes gateway status
      hermes gateway pair list
    """
