"""A script, what runs it, and what it came to."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hermes_core.types import Blob
from hermes_core.values import define, frozen

__all__ = ["NAME", "Ended", "Interpreter", "Make", "Printed", "Script"]

NAME = "script.py"  # what tracebacks call it
Make: TypeAlias = Callable[[Sequence[Any]], Awaitable[list[tuple[str, bool]]]]  # makes calls: texts, and who failed


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


class Interpreter(ABC):
    """Runs scripts, one at a time, over the same variables. ``mark`` is that of its processes."""

    mark: str = ""
    alive: bool = False
    scripts: int = 0

    @abstractmethod
    async def start(self) -> None:
        """Start it. Raises ToolError; nothing is left then."""

    @abstractmethod
    async def run(self, script: Script, make: Make, show: Callable[[str], None]) -> Ended:
        """Run a script to its end; ``make`` makes its calls of tools, ``show`` gets what it prints as it comes.

        When it is cancelled, the interpreter is ended. Raises ToolError.
        """

    @abstractmethod
    async def close(self) -> str:
        """End it and everything it started; what its place says of that."""
