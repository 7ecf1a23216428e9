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

_LIMIT = 2  # a plugin that ended the process so often is not tried again until it changes


class Crumbs:
    """One small file per import under way. One that is left behind tells the next start what happened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def laid(self, installed: Installed) -> Iterator[None]:
        """Import inside this. Raises LoadError instead when the last import ended the process."""
        path = self._path(installed)
        deaths, fresh = self._deaths(installed)
        if fresh:
            self._write(path, installed, deaths, importing=False)
            raise self._died(installed, "so it is skipped this once")
        if deaths >= _LIMIT:
            raise self._died(installed, f"{deaths} times, so it is not tried again")
        self._write(path, installed, deaths, importing=True)
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()

    def deaths(self, installed: Installed) -> int:
        """How often importing this very code ended the process. Doctor does not try what has."""
        return self._deaths(installed)[0]

    def condemn(self, installed: Installed) -> None:
        """Do not try a plugin again, because a trial showed that its import ends the process."""
        self._write(self._path(installed), installed, _LIMIT, importing=False)

    def forgive(self, installed: Installed) -> None:
        """Try a plugin again, because the person enabled it anew."""
        self._path(installed).unlink(missing_ok=True)

    def _died(self, installed: Installed, rest: str) -> LoadError:
        text = f"its import ended the whole process, {rest}"
        hint = f"Try again: hermes plugins enable {installed.label}   Or: hermes plugins disable {installed.label}"
        return LoadError(installed.label, text, version=installed.version, hint=hint)

    def _path(self, installed: Installed) -> Path:
        return self._folder / f"{installed.label.replace('/', '-')}.json"

    def _deaths(self, installed: Installed) -> tuple[int, bool]:
        crumb = self._read(self._path(installed))
        if crumb.get("code") != _code(installed) or not isinstance(crumb.get("deaths"), int):
            return 0, False
        fresh = bool(crumb.get("importing")) and not _alive(crumb.get("pid"))
        return crumb["deaths"] + fresh, fresh

    def _read(self, path: Path) -> dict[str, JSON]:
        try:
            crumb = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return crumb if isinstance(crumb, dict) else {}

    def _write(self, path: Path, installed: Installed, deaths: int, *, importing: bool) -> None:
        crumb = {"code": _code(installed), "pid": os.getpid(), "deaths": deaths, "importing": importing}
        with suppress(OSError):  # a folder that cannot be written costs this protection, not the plugin
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(path, json.dumps(crumb).encode())


def _code(installed: Installed) -> str:
    # Code that was mended or updated since is worth another try.
    path = Path(installed.path)
    try:
        return f"{installed.version} {(path if path.is_file() else path / '__init__.py').stat().st_mtime_ns}"
    except OSError:
        return installed.version


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
