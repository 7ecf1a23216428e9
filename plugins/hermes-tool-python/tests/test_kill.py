"""kill -9 in the middle of a script: no call of a tool is made twice, and nothing of it lives on."""

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks
from hermes_tool_python.choice import why_not

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

LOOP = "from hermes_tools import mark\nfor i in range(12):\n    mark(text=str(i))\nprint('all of them')"
KNOWN = {
    "tool_started:1": "whether it had begun is not known",
    "tool_started:3": "nothing of it runs any more",
    "tool_done:3": "nothing of it runs any more",
    "tool_stored:3": "nothing of it runs any more",
    "tool_done:13": "it had come to its end, and what it gave is lost",
}
BUSY = "while True:\n    pass"
MODES = ["fast", "full", "full, without a wall"]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


class Stage:
    """A home, and processes over it."""

    def __init__(self, folder: Path, forks: Forks, mode: str, wall: str) -> None:
        self.home, self.forks, self.mode, self.wall = folder / "home", forks, mode, wall
        self.said = folder / "said"
        self.marks = folder / "marks"

    def order(self, session: str, code: str, *, keep: bool = False, **env: str) -> dict[str, object]:
        self.said.unlink(missing_ok=True)
        env = {"HERMES_HOME": str(self.home), "HERMES_TESTING": "1", **env}
        said = json.dumps({"code": code, "keep": keep}) if code else ""
        order = {"home": str(self.home), "session": session, "mode": self.mode, "said": said, "wall": self.wall}
        return {"env": env, "output": self.said, **order, "rest": 0.04 if code == LOOP else 0.0}

    def results(self) -> list[str]:
        return [json.loads(line) for line in self.said.read_text().splitlines() if line.startswith('"')]

    def marked(self, session: str) -> Counter[str]:
        lines = self.marks.read_text().splitlines() if self.marks.exists() else []
        return Counter(line for line in lines if line.startswith(f"{session} "))


@pytest.fixture(params=MODES)
def stage(request, tmp_path, forks) -> Stage:
    if request.param == "fast" and why_not():
        pytest.skip(why_not())
    mode, _, open_ = request.param.partition(", ")
    return Stage(tmp_path, forks, mode, "none" if open_ else "auto")


@pytest.mark.parametrize("die_at", KNOWN)
def test_a_script_that_was_cut_is_not_run_again_and_its_calls_are_told(stage, die_at):
    status = stage.forks.play(**stage.order("s", LOOP, HERMES_DIE_AT=die_at))
    assert status == -signal.SIGKILL, stage.said.read_text()
    before = stage.marked("s")
    assert stage.forks.play(**stage.order("s", "")) == 0, stage.said.read_text()
    (told,) = stage.results()
    assert KNOWN[die_at] in told
    assert stage.marked("s") == before, "nothing is done by taking it up"
    assert not before or max(before.values()) == 1
    number = int(die_at.partition(":")[2])
    if die_at.startswith("tool_stored"):
        assert told.count(": ok") >= number - 1
    if die_at == "tool_started:3":
        assert "cut off, nobody knows what it did" in told


def test_after_random_kills_nothing_lives_and_nothing_is_done_twice(stage, request):
    dice = random.Random(int(os.environ.get("HERMES_SEED", "16")))
    for number in range(request.config.getoption("kills")):  # each is a death
        session, code = f"s{number}", BUSY if number % 3 == 2 else LOOP
        pid = stage.forks.start(**stage.order(session, code, keep=number % 2 == 1))
        time.sleep(dice.uniform(0.05, 0.9))
        family = descendants(pid)
        with contextlib.suppress(ProcessLookupError):  # it may be over
            os.kill(pid, signal.SIGKILL)
        assert stage.forks.wait() in (0, -signal.SIGKILL)
        wait_until_gone(family)
        assert stage.forks.play(**stage.order(session, "")) == 0, stage.said.read_text()
        assert not stage.marked(session) or max(stage.marked(session).values()) == 1


def descendants(pid: int) -> set[tuple[int, str]]:
    """All below a process, each with when it began: a number alone may be another's by then."""
    found, tree, grown = {}, {pid}, True
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]), fields[19])
    while grown:
        more = {one for one, (parent, _) in found.items() if parent in tree} - tree
        tree |= more
        grown = bool(more)
    return {(one, found[one][1]) for one in tree - {pid} if one in found}


def wait_until_gone(family: set[tuple[int, str]]) -> None:
    until = time.monotonic() + 15
    left = family
    while left and time.monotonic() < until:
        left = {one for one in left if lives(*one)}
        time.sleep(0.02)
    assert not left, [Path(f"/proc/{pid}/cmdline").read_bytes()[:200] for pid, _ in left]


def lives(pid: int, began: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == began and fields[0] not in "ZX"
