"""Which crowds were judged already, in a file that a long run may be ended with and goes on from.

What was judged of other code is worth nothing: each line begins with a digest of the code it was played with.
"""

import hashlib
import time
from functools import cache
from pathlib import Path

import pytest
from people_house import CROWD

__all__ = ["Kept", "kept_crowds"]

_ROOT = Path(__file__).parents[2]
_CODE = ("hermes_core/**/*.*", "plugins/*/src/**/*.*", "tests/people/*.py", "tests/word/*.py", "uv.lock")
_TEST = "test_nobody_notices_that_others_are_there"


def kept_crowds(file: str) -> set[int]:
    """The crowds that a file says were judged with this code, and nobody noticed anything."""
    if not file or not Path(file).exists():
        return set()
    code = _code()
    lines = (line.split() for line in Path(file).read_text(encoding="utf-8").splitlines())
    return {int(line[1]) for line in lines if len(line) == 2 and line[0] == code and line[1].isdecimal()}


class Kept:
    """A plugin of pytest: it keeps each crowd that was judged, and tells how far the run is."""

    def __init__(self, config: pytest.Config) -> None:
        self._file, self._all = str(config.getoption("kept")), -(-int(config.getoption("talks")) // len(CROWD))
        self._code, self._before = _code(), len(kept_crowds(self._file))
        self._began, self._good, self._bad = time.monotonic(), 0, 0
        self._plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if _TEST not in report.nodeid or (report.when != "call" and not report.failed):
            return
        self._good, self._bad = self._good + report.passed, self._bad + report.failed
        if report.passed:
            with Path(self._file).open("a", encoding="utf-8") as kept:
                kept.write(f"{self._code} {report.nodeid.rpartition('[')[2].rstrip(']')}\n")
        here, many = self._good + self._bad, len(CROWD)
        seconds = time.monotonic() - self._began
        left = (self._all - self._before - here) * seconds / here / 60
        self._plugins.getplugin("terminalreporter").write_line(
            f"  {(self._before + here) * many:,} of {self._all * many:,} conversations judged, "
            f"{self._bad} crowds with a difference; about {max(0, round(left))} minutes left"
        )


@cache
def _code() -> str:
    """A digest of all that plays in a crowd."""
    digest = hashlib.sha256()
    for pattern in _CODE:
        for file in sorted(_ROOT.glob(pattern)):
            if file.is_file() and file.suffix != ".pyc":
                digest.update(str(file.relative_to(_ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
