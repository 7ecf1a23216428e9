"""A Distribution: a named product built on the kernel, as a value. Ours is ``HERMES``, and it is nothing special."""

from collections.abc import Sequence

from hermes_core.product import OURS, Allow, Product

__all__ = ["HERMES", "Allow", "Distribution"]


class Distribution(Product):
    """A product with its command line. What it is made of is said at Product."""

    __slots__ = ()

    def cli(self, arguments: Sequence[str] | None = None) -> None:
        """Run the command line of this distribution; point a console script at it."""
        from hermes_core.cli.main import run

        run(self, arguments)


HERMES = Distribution(*OURS)
