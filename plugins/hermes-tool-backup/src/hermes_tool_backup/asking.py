"""What is asked of a person, and what the system refuses, for all commands that make copies or bring them back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hermes_core.errors import UserError

__all__ = ["asked_for", "tidy", "wished"]

_VARIABLE = "HERMES_BACKUP_PASSPHRASE"


@contextmanager
def tidy(what: str = "It cannot be brought back") -> Iterator[None]:
    """Say ``what`` the system refuses, in plain words."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{what}: {error.strerror or error} ({error.filename or ''}).") from None


def asked_for() -> str:
    """The passphrase of a copy that is there. Raises UserError where nobody is here."""
    import click

    if given := os.environ.get(_VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise UserError("The copy is sealed, and nobody is here to ask.", hint=f"Set {_VARIABLE}.")
    return str(click.prompt("Passphrase", hide_input=True, err=True))


def wished() -> str:
    """A passphrase for a new copy. Raises UserError where nobody is here, or it is too short."""
    import click

    given = os.environ.get(_VARIABLE, "")
    if not given and not sys.stdin.isatty():
        raise UserError("A copy with secrets is sealed, and nobody is here to ask.", hint=f"Set {_VARIABLE}.")
    passphrase = given or str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))
    if len(passphrase) < 8:
        raise UserError("A passphrase has at least 8 characters.", hint="Four words that nobody says together will do.")
    return passphrase
