"""``hermes trust``: add, list, forget."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_closed.closed import wide
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_provenance.notes import notes_in

if TYPE_CHECKING:
    import click


def commands(ledger: Ledger) -> Sequence[Command]:
    """The three commands."""
    return [
        Command(name="trust add", build=lambda: _add(ledger)),
        Command(name="trust list", build=lambda: _list(ledger)),
        Command(name="trust forget", build=lambda: _forget(ledger)),
    ]


def trusted(ledger: Ledger, path: str) -> str:
    """Say that a folder is known, or a file one's own; what to tell the person. Raises UserError."""
    real = Path(os.path.realpath(Path(path).expanduser()))
    if not real.exists():
        raise UserError(f"There is no {real}.", hint="Name a folder or a file that is there.")
    if real.is_dir() and wide(str(real)):
        raise UserError(
            f"{real} is too wide to be known: all that ever comes into it would be trusted.",
            hint="Name the folder of a project.",
        )
    gone = ledger.trust(real)
    marks = f" {gone:,} {'mark' if gone == 1 else 'marks'} of what came from outside went." if gone else ""
    if not real.is_dir():
        return f"{real} is your own.{marks}"
    notes = notes_in(str(real))
    names = [note.name for note in notes]
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    followed = f" Followed from now on, in new sessions: {', '.join(names[:5])}{more}." if names else ""
    return f"{real} is known.{followed}{marks}"


def _add(ledger: Ledger) -> "click.Command":
    import click

    @click.command()
    @click.argument("path", default=".")
    def command(path: str) -> None:
        """Say that the folder PATH is known: its notes for agents are followed, and its files are your own.

        Of a file: that it is your own, wherever it came from.

        \b
        Examples:
          hermes trust add
          hermes trust add ~/work/shop
        """
        click.echo(trusted(ledger, path))

    return command


def _list(ledger: Ledger) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
    def command(as_json: bool) -> None:
        """The known folders, those in them that came from outside, and those of which you said no."""
        found = sorted([*ledger.folders(), *ledger.declined()])
        if as_json:
            for one in found:
                click.echo(json.dumps(one._asdict()))
            return
        if not found:
            click.echo("No folder is known. To make one known: hermes trust add PATH", err=True)
        for one in found:
            day = time.strftime("%Y-%m-%d", time.localtime(one.at))
            click.echo(f"{'known  ' if one.known else 'outside'}  {day}  {one.path}  ({one.why})")

    return command


def _forget(ledger: Ledger) -> "click.Command":
    import click

    @click.command()
    @click.argument("path", default=".")
    def command(path: str) -> None:
        """Say that the folder PATH is not known any more. What is read of it then counts as text from outside."""
        real = os.path.realpath(Path(path).expanduser())
        if not ledger.forget(real):
            raise UserError(f"Nothing was said of {real}.", hint="hermes trust list shows what was said.")
        click.echo(f"{real} is not known any more.")

    return command
