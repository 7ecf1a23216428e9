"""This process, as those of the same home see it: a lock that ends with it, however it ends."""

import os
import re
import secrets
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path

__all__ = ["Process"]

_NAME = re.compile(r"[0-9a-f]{16}")


class Process:
    """One process with a budget. ``folder`` has a lock for each; it is made with the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holding: AbstractContextManager[None] | None = None
        self._name = ""

    def name(self, lasts: float) -> str:
        """Return a name that others can ask after; empty where there can be no lock.

        The locks of the dead are cleared away after as many seconds as their replies may be believed, ``lasts``.
        """
        if self._holding is None:
            from hermes_atomic.whole import Busy, held

            name = secrets.token_hex(8)
            holding = held(self._folder / f"{name}.lock", seconds=-1)
            with suppress(Busy, OSError):
                holding.__enter__()
                self._holding, self._name = holding, name
                for path in self._folder.glob("*.lock"):
                    if path.stat().st_mtime < time.time() - lasts and self.is_dead(path.stem):
                        path.unlink(missing_ok=True)
        else:
            with suppress(OSError):
                os.utime(self._folder / f"{self._name}.lock")  # its last reply is as old as this file
        return self._name

    def is_dead(self, name: str) -> bool:
        """Tell whether a process has ended for sure; of one of another machine nobody here knows it."""
        path = self._folder / f"{name}.lock"
        if not _NAME.fullmatch(name) or not path.exists():
            return False
        from hermes_atomic.whole import Busy, held

        try:
            with held(path, seconds=-1):
                return True
        except (Busy, OSError):
            return False
