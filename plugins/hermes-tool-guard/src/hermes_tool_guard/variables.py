"""What a command knows of its variables."""

from collections.abc import Sequence

from hermes_tool_guard.judgement import DERIVED, OPAQUE

__all__ = ["MOST_VALUES", "Variables"]

MOST_VALUES = 16  # of a variable or a command line; beyond that they cannot be known


class Variables:
    """Values that variables may have. All that were ever set are kept: which one holds depends on what runs."""

    def __init__(self, known: dict[str, str]) -> None:
        self._values: dict[str, list[str]] = {name: [value] for name, value in known.items()}
        self.changed: set[str] = set()
        self.grown: set[str] = set()  # since somebody last looked
        self._watched: dict[str, tuple[str, ...] | None] | None = None  # what was used or set, and what it was before

    def get(self, name: str) -> Sequence[str]:
        """The values a variable may have."""
        if self._watched is not None and name not in self._watched:
            self._watched[name] = tuple(self._values[name]) if name in self._values else None
        return self._values.get(name, (OPAQUE,))

    def add(self, name: str, values: Sequence[str]) -> None:
        """Another value; too many make it unknown."""
        if self._watched is not None and name not in self._watched:
            self._watched[name] = tuple(self._values[name]) if name in self._values else None
        there = self._values.setdefault(name, [])
        fresh = [value for value in values if value not in there]
        if fresh:
            there += fresh
            self.grown.add(name)
        if len(there) > MOST_VALUES:
            there[:] = [DERIVED]
        self.changed.add(name)

    def names(self) -> set[str]:
        """The variables set so far; what is set after that, in a part that may not run, is given to ``perhaps``."""
        return set(self._values)

    def perhaps(self, before: set[str]) -> None:
        """What was set since may not have been: then it is what it was outside of the command."""
        for name in self._values.keys() - before:
            if OPAQUE not in self._values[name]:
                self._values[name] = [*self._values[name], OPAQUE]

    def inherited(self) -> dict[str, list[str]]:
        """What a new shell sees: variables that were set here may not be exported."""
        self._watched = None
        return {name: [*self._values[name], OPAQUE] for name in self.changed if name in self._values}

    def watch(self) -> None:
        """Take down which variables are used or set from now on."""
        self._watched = {}

    def watched(self) -> tuple[tuple[str, tuple[str, ...] | None, tuple[str, ...]], ...] | None:
        """What was used or set since, with what it was and what it is now; None when that may be any variable."""
        watched, self._watched = self._watched, None
        if watched is None:
            return None
        return tuple((name, before, tuple(self._values.get(name, ()))) for name, before in watched.items())

    def replay(self, sets: Sequence[tuple[str, tuple[str, ...] | None, tuple[str, ...]]]) -> bool:
        """Set variables as they were set once before, if they are what they were then."""
        for name, before, _ in sets:
            now = self._values.get(name)
            if (now if now is None else tuple(now)) != before:
                return False
        for name, before, after in sets:
            if after and after != before:
                self._values[name] = list(after)
                self.changed.add(name)
                self.grown.add(name)
        return True

    def swap(self, values: dict[str, list[str]]) -> dict[str, list[str]]:
        """Give variables other values, as for a function's arguments; returns what they had before."""
        if self._watched is not None:
            for name in values.keys() - self._watched.keys():
                self._watched[name] = tuple(self._values[name]) if name in self._values else None
        before = {name: self._values.get(name, []) for name in values}
        for name, value in values.items():
            if value:
                self._values[name] = value
            else:
                self._values.pop(name, None)
        return before
