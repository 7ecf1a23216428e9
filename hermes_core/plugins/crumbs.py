"""Breadcrumbs: which third-party import ended the whole process, where no ``except`` could."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_core.config.files import write_atomic
from hermes_core.errors import LoadError
from hermes_core.plugins.index import Installed
from hermes_core.types import JSON

_LIMIT = 2  # a plugin that ended the process so often is not tried again in this version


class Crumbs:
    """One small file per import under way. One that is left behind tells the next start what happened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def laid(self, installed: Installed) -> Iterator[None]:
        """Import inside this. Raises LoadError instead when the last import ended the process."""
        path = self._path(installed)
        crumb = self._read(path)
        same = crumb.get("version") == installed.version
        deaths = int(crumb.get("deaths", 0)) if same else 0
        if crumb.get("importing") and not _alive(crumb.get("pid")):
            self._write(path, installed, deaths + 1, importing=False)
            raise self._died(installed, "so it is skipped this once")
        if deaths >= _LIMIT:
            raise self._died(installed, f"{deaths} times, so it is not tried again")
        self._write(path, installed, deaths, importing=True)
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()

    def forgive(self, installed: Installed) -> None:
        """Try a plugin again, because the person enabled it anew."""
        self._path(installed).unlink(missing_ok=True)

    def _died(self, installed: Installed, rest: str) -> LoadError:
        text = f"its import ended the whole process, {rest}"
        hint = f"Try again: hermes plugins enable {installed.label}   Or: hermes plugins disable {installed.label}"
        return LoadError(installed.label, text, version=installed.version, hint=hint)

    def _path(self, installed: Installed) -> Path:
        return self._folder / f"{installed.label.replace('/', '-')}.json"

    def _read(self, path: Path) -> dict[str, JSON]:
        try:
            crumb = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return crumb if isinstance(crumb, dict) else {}

    def _write(self, path: Path, installed: Installed, deaths: int, *, importing: bool) -> None:
        crumb = {"version": installed.version, "pid": os.getpid(), "deaths": deaths, "importing": importing}
        with suppress(OSError):  # a folder that cannot be written costs this protection, not the plugin
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(path, json.dumps(crumb).encode())


def _alive(pid: JSON) -> bool:
    # Another start may be importing the same plugin right now. Our own number can only be left from before.
    if not isinstance(pid, int) or pid <= 0 or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
