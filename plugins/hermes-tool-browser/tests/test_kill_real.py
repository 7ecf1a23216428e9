"""kill -9 at any time: no browser, no driver and no folder outlives its Hermes."""

import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks
from hermes_tool_browser import scratch

from .pages import Site

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(230)]

PART = 10  # kills of one test


@pytest.fixture(scope="module")
def forks():
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


@pytest.fixture(scope="module")
def pages():
    with Site() as made:
        yield made


def pytest_generate_tests(metafunc):
    if "part" in metafunc.fixturenames:  # --kills 200 are so many deaths
        kills = metafunc.config.getoption("kills")
        parts = [min(PART, kills - begun) for begun in range(0, kills, PART)]
        metafunc.parametrize(("part", "kills"), list(enumerate(parts)))


def test_after_random_kills_nothing_lives_and_no_folder_stays(part, kills, forks, pages, tmp_path, monkeypatch):
    dice = random.Random(f"{os.environ.get('HERMES_SEED', '16')} {part}")
    place = Path(tempfile.mkdtemp(prefix="hk-", dir="/tmp"))  # short, as the path of a socket has to be
    longest, at = 2.0, list[str]()
    for number in range(kills + 1):
        said = tmp_path / f"said{number}"
        env = {"TMPDIR": str(place), "HERMES_TEST_MARK": f"{tmp_path}"}
        pid = forks.start(env=env, output=said, url=pages.url, wall="none" if number % 5 == 4 else "auto")
        if number == 0:  # how long one takes here, undisturbed
            began = time.monotonic()
            assert forks.wait() == 0, said.read_text()
            longest = time.monotonic() - began
            wait_until_gone(place)
            continue
        time.sleep(dice.uniform(0.0, longest))
        family = descendants(pid)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            family = set()
        assert forks.wait() in (0, -signal.SIGKILL)
        wait_until_gone(place, family)
        at.append((said.read_text().split() or ["nothing"])[-1])
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    scratch.sweep()
    assert not [*place.glob("hermes-browser-*")]
    shutil.rmtree(place)
    print(f"killed {len(at)} times:", {word: at.count(word) for word in sorted(set(at))})


def descendants(pid: int) -> set[tuple[int, str]]:
    """All below a process, each with when it began: a number alone may be another's by then."""
    found, tree = {}, {pid}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]), fields[19])
    while more := {one for one, (parent, _) in found.items() if parent in tree} - tree:
        tree |= more
    return {(one, found[one][1]) for one in tree - {pid} if one in found}


def wait_until_gone(place: Path, family: set[tuple[int, str]] = frozenset()) -> None:
    """Wait until no descendant lives, and nothing whose words name the folder of a browser of this test."""
    until, left = time.monotonic() + 20, [""]
    while left and time.monotonic() < until:
        left = [f"{pid}" for pid, began in family if lives(pid, began)] + named(place)
        time.sleep(0.02)
    assert not left, left


def named(place: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if str(place).encode() in words and b"dying.py" not in words:
            found.append(f"{path.parent.name} {words[:200]!r}")
    return found


def lives(pid: int, began: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == began and fields[0] not in "ZX"
