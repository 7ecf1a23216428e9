"""What all commands do alike: speak, and ask."""

import sys
from collections.abc import Sequence
from typing import Any

from hermes_core.errors import UserError


def json_option(command: Any) -> Any:
    """``--json``, the same for all."""
    import click

    return click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")(command)


def say(lines: Sequence[str], *, err: bool = False) -> None:
    """Print lines; what the terminal cannot show is replaced."""
    import click

    for line in lines:
        click.echo(line.encode("utf-8", "replace").decode(), err=err)


def yes_option(command: Any) -> Any:
    """``--yes``, the same for all."""
    import click

    return click.option("-y", "--yes", is_flag=True, help="Do it without being asked (a person decided it elsewhere).")(
        command
    )


def sits_here() -> bool:
    """Whether a person can answer."""
    return sys.stdin.isatty()


def agreed(question: str, *, yes: bool) -> None:
    """Go on only with a person's yes. Raises UserError when nobody is here to give it."""
    import click

    if yes:
        return
    if not sits_here():
        raise UserError(f"{question} Nobody is here to ask.", hint="Decide it yourself, then say --yes.")
    click.confirm(question, abort=True)
