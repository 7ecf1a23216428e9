"""The program of a product: its file is read, its name is put on, and then the command line of Hermes runs."""

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.embed import Distribution
    from hermes_distribution.form import Form

__all__ = ["FILE", "Program", "program"]

FILE = "hermes-distribution.toml"


class Program:
    """A product, to point a console script at. Nothing of it is read before it is called."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @cached_property
    def form(self) -> "Form":
        """What its file says. Raises UserError with all that is wrong in it."""
        from hermes_distribution.form import read

        return read(self.file)

    @cached_property
    def distribution(self) -> "Distribution":
        """The product as a value, for ``Hermes(program.distribution)``; its name is on from here on. Raises UserError.

        What was imported of Hermes before this keeps its own words.
        """
        from hermes_distribution.brand import put_on

        renaming = put_on(self.form.brand)
        from hermes_distribution.product import made

        return made(self.form, renaming)

    def __call__(self, arguments: Sequence[str] | None = None) -> None:
        """Run its command line and exit, as ``hermes`` does: 2 where the file is wrong."""
        from hermes_distribution.brand import environment
        from hermes_distribution.files import lay_down

        try:
            environment(self.form.brand, os.environ)
            distribution = self.distribution
            shipped = self.file.parent / "files"
            if shipped.is_dir():
                home = distribution.home()
                home.create()
                lay_down(shipped, home.base)
        except Exception as error:
            from hermes_core.errors import HermesError  # not before the name is on: it has words of its own

            if not isinstance(error, HermesError):
                raise
            sys.stderr.write(f"{error}\n")
            raise SystemExit(2) from None
        distribution.cli(arguments)


def program(beside: str | Path) -> Program:
    """Make the program of the ``hermes-distribution.toml`` that lies beside a file, or in a folder."""
    given = Path(beside)
    return Program(given if given.suffix == ".toml" else (given if given.is_dir() else given.parent) / FILE)
