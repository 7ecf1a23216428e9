"""Folders whose files that run by themselves are compared together: a workspace's, and those of others beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from hermes_backend_wall.plan import home_of
from hermes_backend_wall.protected import Protected
from hermes_core.types import Folder

__all__ = ["Guarded", "Several", "of_others"]


def of_others(also: Sequence[Folder], homes: Path, records: Path) -> list[Protected]:
    """What compares those of further folders that commands may change. See ``plan.Plan``."""
    return [
        Protected(one.path, Path(f"{home_of(homes, one.path)}.kept"), Path(home_of(records, one.path)))
        for one in also
        if one.writes
    ]


class Several:
    """Does for several folders what Protected does for one."""

    def __init__(self, folders: Sequence[Protected]) -> None:
        self._folders = folders

    @property
    def unsettled(self) -> bool:
        """See Protected."""
        return any(one.unsettled for one in self._folders)

    @property
    def shallow(self) -> bool:
        """See Protected."""
        return any(one.shallow for one in self._folders)

    def begin(self) -> None:
        """A command starts: in all of them, or in none. Raises OSError."""
        begun: list[Protected] = []
        try:
            for one in self._folders:
                one.begin()
                begun.append(one)
        except BaseException:
            for one in begun:
                one.end()
            raise

    def end(self, *, left: bool = False) -> str:
        """See Protected."""
        return "\n".join(filter(None, [one.end(left=left) for one in self._folders]))

    def watch(self, *, left: bool = True) -> None:
        """See Protected."""
        for one in self._folders:
            one.watch(left=left)

    def deepen(self) -> None:
        """See Protected."""
        for one in self._folders:
            one.deepen()

    def recover(self) -> None:
        """See Protected."""
        for one in self._folders:
            one.recover()

    def accept(self, path: str) -> None:
        """See Protected."""
        for one in self._folders:
            one.accept(path)

    def close(self) -> str:
        """See Protected."""
        return "\n".join(filter(None, [one.close() for one in self._folders]))


Guarded: TypeAlias = Protected | Several
