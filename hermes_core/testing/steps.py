"""Work counted in lines of Python: what reads foreign bytes must come to an end, and soon, whatever they are.

A count is the same on a quiet machine and on a busy one; a time is not.
"""

import sys
from types import FrameType
from typing import Any, Self

__all__ = ["Steps", "TooManySteps"]

_ONCE = frozenset({"_frozen_importlib", "importlib._bootstrap", "re._compiler", "re._parser"})


class TooManySteps(AssertionError):
    """Something did more than it was allowed: its work grows faster than what it reads, or it has no end."""


class Steps:
    """Counts the lines of what is called while it is entered: ``with Steps(len(data)): reader.feed(data)``.

    ``first`` lines are allowed, and ``each`` more for each of ``size`` bytes. The line that is one too many raises
    TooManySteps, so an endless loop ends. ``made`` is the count so far. Only this thread is counted, and what C code
    does within a line, such as one search of a long text, is one step, however long it takes. What is done only the
    first time, importing a module and compiling a pattern, is left out.
    """

    def __init__(self, size: int, *, each: int = 50, first: int = 1_000) -> None:
        self.made = 0
        self._size = size
        self._most = first + each * size
        self._before: Any = None
        self._aside: FrameType | None = None

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        sys.settrace(self._before)
        if kind is None:
            self._check()  # once more: it may have been swallowed

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_globals is globals():
            return None
        if event == "call" and self._aside is None and frame.f_globals.get("__name__") in _ONCE:
            self._aside = frame
        elif event == "return" and frame is self._aside:
            self._aside = None
        elif event == "line" and self._aside is None:
            self.made += 1
            self._check()
        return self._trace

    def _check(self) -> None:
        if self.made > self._most:
            raise TooManySteps(f"made {self.made:,} steps for {self._size:,} bytes; allowed are {self._most:,}")
