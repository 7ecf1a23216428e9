"""Crash markers: which third-party import ended the whole process, where no ``except`` could."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from hermes_core.errors import ContractError, LoadError
from hermes_core.plugins.index import Installed
from hermes_core.types import JSON

_LIMIT = 2  # a plugin that ended the process so often is not tried again until it changes


class CrashMarkers:
    """One small file per import under way. One that is left behind tells the next start what happened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def laid(self, installed: Installed) -> Iterator[None]:
        """Import inside this. Raises LoadError instead when the last import ended the process.

        From now on an ``os._exit`` of the plugin raises ContractError, instead of ending the process.
        """
        deaths, fresh, why = self._deaths(installed)
        if fresh:
            self._write(installed, deaths, importing=False)
        if fresh or deaths >= _LIMIT:
            rest = "so it is skipped this once" if fresh else f"{deaths} times, so it is not tried again"
            again, off = (f"hermes plugins {verb} {installed.label}" for verb in ("enable", "disable"))
            text = f"{why}, so it is not tried again" if why else f"its import ended the whole process, {rest}"
            raise installed.error(LoadError, text, f"Try again: {again}   Or: {off}")
        self._write(installed, deaths, importing=True)
        _watched[installed.module.partition(".")[0]] = installed, os.getpid()
        os._exit = _exit
        try:
            yield
        finally:
            with suppress(OSError):
                self._path(installed).unlink()

    def condemn(self, installed: Installed, why: str = "") -> None:
        """Do not try a plugin again, because a trial showed that its import ends the process; or say why else."""
        self._write(installed, _LIMIT, importing=False, why=why)

    def forgive(self, installed: Installed) -> None:
        """Try a plugin again, because the person enabled it anew."""
        self._path(installed).unlink(missing_ok=True)

    def _path(self, installed: Installed) -> Path:
        return self._folder / f"{installed.label.replace('/', '-')}.json"

    def _deaths(self, installed: Installed) -> tuple[int, bool, str]:
        """Say how often importing this very code ended the process, whether the last is news, and what else it did."""
        try:
            marker = json.loads(self._path(installed).read_text(encoding="utf-8"))
            if marker["code"] != _code(installed):
                return 0, False, ""
            fresh = marker["importing"] and not _alive(marker["pid"])
            return marker["deaths"] + fresh, fresh, marker.get("why", "")
        except (OSError, ValueError, KeyError, TypeError):
            return 0, False, ""

    def _write(self, installed: Installed, deaths: int, *, importing: bool, why: str = "") -> None:
        from hermes_atomic.whole import replace

        who = {"code": _code(installed), "pid": os.getpid()}
        marker = {**who, "deaths": deaths, "importing": importing, "why": why}
        with suppress(OSError):  # a folder that cannot be written costs this protection, not the plugin
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(self._path(installed), json.dumps(marker).encode())


_watched: dict[str, tuple[Installed, int]] = {}  # by the first word of their modules, with the process they are in
_really_exit = os._exit


def _exit(status: int) -> NoReturn:
    frame: FrameType | None = sys._getframe(1)
    while frame:
        culprit, process = _watched.get(str(frame.f_globals.get("__name__", "")).partition(".")[0], (None, 0))
        if culprit and process == os.getpid():  # one that the plugin forked may end as it likes
            raise culprit.error(ContractError, f"called os._exit({status!r})", "Let it raise an error instead.")
        frame = frame.f_back
    _really_exit(status)


def _code(installed: Installed) -> str:
    # Code that was mended or updated since is worth another try.
    path = Path(installed.path)
    try:
        return f"{installed.version} {(path if path.is_file() else path / '__init__.py').stat().st_mtime_ns}"
    except OSError:
        return installed.version


def _alive(pid: JSON) -> bool:
    from hermes_atomic.processes import is_running

    # Another start may be importing the same plugin right now. Our own number can only be left from before.
    return isinstance(pid, int) and pid != os.getpid() and is_running(pid)
