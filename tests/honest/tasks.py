"""The table of honest work."""

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from attrs import frozen

__all__ = ["TASKS", "Task", "reached"]

_TABLE = tomllib.loads(Path(__file__).with_name("tasks.toml").read_text("utf-8"))


@frozen
class Task:
    """A project, and commands that must all end well. ``shows`` is part of what the last one says."""

    name: str
    files: Mapping[str, str]
    steps: Sequence[str]
    needs: Sequence[str] = ()
    net: str = ""
    shows: str = ""

    def lay(self, folder: Path) -> None:
        """Put the project into a folder."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.removeprefix("\n"))

    def missing(self, path: str) -> list[str]:
        """The programs that are not there."""
        return [name for name in self.needs if not shutil.which(name, path=path)]


def _task(row: Mapping[str, Any]) -> Task:
    given = {name: value for name, value in row.items() if name != "project"}
    return Task(**given, files=_TABLE["projects"][row["project"]])


def reached(host: str) -> bool:
    """Whether a host answers from this machine."""
    try:
        with urlopen(f"https://{host}/", timeout=10):
            return True
    except HTTPError:
        return True
    except (URLError, OSError):
        return False


TASKS = [_task(row) for row in _TABLE["task"]]
