"""A command that outlives its Hermes is found again, waited for, and never made twice; behind the wall none does."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_backend_wall.landlock import version

pytestmark = pytest.mark.long

EFFECT = "echo begun; touch began; sleep {seconds}; echo once >> effect"


class House:
    """``hermes`` in a home and a folder of its own; ``wall`` is that of its commands."""

    def __init__(self, folder, standby, wall: str) -> None:
        self.home, self.folder, self.standby = folder / "home", folder / "work", standby
        for made in (self.home, self.folder):
            made.mkdir()
        (self.home / "config.yaml").write_text(f"model: {{provider: offline}}\nbackends: {{local: {{wall: {wall}}}}}\n")
        keep = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_") and not k.endswith("_BASE_URL")}
        self.env = {**keep, "HERMES_HOME": str(self.home), "HOME": str(folder), "TMPDIR": str(folder)}

    def start(self, *words: str, fresh: bool = False) -> subprocess.Popen:
        command = [sys.executable, "-m", "hermes_core"] if fresh else [str(self.standby / "hermes")]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([*command, *words], text=True, env=self.env, cwd=self.folder, **pipes)

    def __call__(self, *words: str) -> subprocess.CompletedProcess:
        with self.start(*words) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def cut(self, number: int, script: str) -> subprocess.CompletedProcess:
        """Have a script run that makes the file ``began``, and then end its Hermes by a signal."""
        words = ("--yolo", "-z", f"run `{script}`")
        with self.start(*words, fresh=True) as process:
            deadline = time.monotonic() + 30
            while not (self.folder / "began").exists():
                assert time.monotonic() < deadline
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def result(self) -> str:
        """What the model was told of its call."""
        told = [json.loads(line) for line in self("sessions", "export").stdout.splitlines()]
        return "".join(one["content"] for one in told if one["role"] == "tool")

    def effects(self) -> int:
        file = self.folder / "effect"
        return file.read_text().count("once") if file.exists() else 0

    def alive(self) -> list[int]:
        """Processes that work in the folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self.folder:
                    found.append(int(process.name))
        return found


@pytest.fixture
def house(tmp_path, standby):
    made = House(tmp_path, standby, "none")
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def walled(tmp_path, standby):
    if not shutil.which("bwrap"):
        pytest.skip("there is no bubblewrap")
    made = House(tmp_path, standby, "bubblewrap")
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def landlocked(tmp_path, standby):
    if not version():
        pytest.skip("there is no Landlock")
    made = House(tmp_path, standby, "landlock")
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


def test_what_still_runs_is_waited_for_and_told_with_its_output(house):
    house.cut(signal.SIGKILL, EFFECT.format(seconds=8))
    assert house.alive(), "the command outlives Hermes"
    done = house("--yolo", "resume", "--json")
    assert json.loads(done.stdout)["reason"] == "done"
    assert (house.effects(), house.alive()) == (1, []), "nothing is told before the effect is there"
    told = house.result()
    assert "was waited for, and has ended by itself" in told
    assert "begun" in told
    assert not list(house.home.rglob("running/*")), "nothing is kept of what is known"


def test_what_ended_meanwhile_is_told_so(house):
    house.cut(signal.SIGKILL, EFFECT.format(seconds=0.5))
    deadline = time.monotonic() + 20
    while house.alive():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    house("--yolo", "resume")
    assert "it has ended by now" in house.result()
    assert house.effects() == 1


def test_without_a_person_who_says_yes_it_is_waited_for_all_the_same(house):
    house.cut(signal.SIGKILL, EFFECT.format(seconds=8))
    house("resume")
    assert "was waited for" in house.result()
    assert house.effects() == 1


def test_behind_the_wall_it_dies_with_hermes(walled):
    walled.cut(signal.SIGKILL, EFFECT.format(seconds=3))
    walled("--yolo", "resume")
    assert "it has ended by now" in walled.result()
    time.sleep(3.5)  # until it would have been made
    assert (walled.effects(), walled.alive()) == (0, [])


TREE = """
setsid -f env -i PATH=$PATH sh -c 'sleep 3; echo once >> effect'
nohup sh -c 'sleep 3; echo once >> effect' >/dev/null 2>&1 &
trap '' HUP TERM
echo begun; touch began
sleep 3; echo once >> effect
"""


def test_behind_landlock_it_dies_with_hermes_and_all_that_it_started(landlocked):
    (landlocked.folder / "tree.sh").write_text(TREE)
    landlocked.cut(signal.SIGKILL, "sh tree.sh")
    began = time.monotonic()
    landlocked("--yolo", "resume")
    assert "it has ended by now" in landlocked.result()
    time.sleep(max(0, 4 - (time.monotonic() - began)))  # until it would have been made
    assert (landlocked.effects(), landlocked.alive()) == (0, [])
