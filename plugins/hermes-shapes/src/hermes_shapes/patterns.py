"""Regular expressions that are compiled when they are first used.

A start imports many modules whose expressions it never looks for anything with; to compile them all would be a tenth
of the time until somebody can type.
"""

import re
from typing import TYPE_CHECKING, Any

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern  # what type checkers know
else:

    class pattern:  # noqa: N801 - it stands for a function
        """As ``re.compile``. A mistake in the expression is found when it is first used."""

        __slots__ = ("_of", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")

        def __init__(self, source: str | bytes, flags: int = 0) -> None:
            self._of = source, flags

        def __getattr__(self, name: str) -> Any:
            """Compile when a method is first asked for; from then on the methods are found without this."""
            if name == "_of" or name.startswith("__"):
                raise AttributeError(name)
            made = re.compile(*self._of)
            for method in self.__slots__[1:]:
                setattr(self, method, getattr(made, method))
            return getattr(made, name)
