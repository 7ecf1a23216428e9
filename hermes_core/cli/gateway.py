"""``hermes gateway``: being reached on chat services. Each command is imported when it runs."""

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


class _Group(click.Group):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        from hermes_core.cli import channels, pairing, serving

        rooms = {"serving": serving, "pairing": pairing, "channels": channels}
        command: click.Command = getattr(rooms[_COMMANDS[cmd_name][0]], cmd_name)
        return command


@click.group(cls=_Group, commands=[click.Command(name, short_help=said) for name, (_, said) in _COMMANDS.items()])
def gateway() -> None:
    """Be reached on chat services: one process that listens, answers, and loses no message.

    \b
    Examples:
      hermes gateway run
      hermes gateway status
      hermes gateway pair list
    """
