"""A script, and what it came to."""

from collections.abc import Mapping, Sequence

from hermes_core.types import Blob
from hermes_core.values import define, frozen

__all__ = ["NAME", "Ended", "Printed", "Script"]

NAME = "script.py"  # what tracebacks call it


@frozen(kw_only=True)
class Script:
    """What to run. ``tools`` are those it may call, each with the names of its arguments in order."""

    code: str
    tools: Mapping[str, Sequence[str]]
    seconds: float


@frozen(kw_only=True)
class Printed:
    """What it printed: the beginning, the end, and how many bytes were left out between them."""

    head: str = ""
    tail: str = ""
    left: int = 0


@define(kw_only=True)
class Ended:
    """How a script ended. ``value`` is what its last line gave, ``error`` its own, with the lines it came through.

    ``trouble`` is what became of its process where that is gone; ``early``: it asks for what this Python does not know,
    and had done nothing yet.
    ``outside``: what it gives may come from outside. ``said`` is what its place said besides.
    """

    printed: Printed = Printed()
    value: str = ""
    error: str = ""
    trouble: str = ""
    images: Sequence[Blob] = ()
    outside: bool = False
    early: bool = False
    said: str = ""

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end."""
        return bool(self.error or self.trouble)
