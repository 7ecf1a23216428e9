"""A terminal that is ended from outside, in tmux: its commands end, its turn is left, and it says how to come back."""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("real", Path(__file__).with_name("test_tui_real_terminal.py"))
assert spec
assert spec.loader
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)

pytestmark = [
    pytest.mark.real,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
TREE = """
setsid -f env -i PATH=$PATH sh -c 'exec sleep 8881'
(setsid sleep 8882 &)
trap '' HUP TERM
touch began
sleep 8883
"""
BACK = re.compile(r"Not finished. Finish it: \S*hermes -c, or \S*hermes\s+-r (\S+)")
FACES = {"--tui": "Ask anything", "--cli": "❯|>"}


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[real.Terminal]:
    opened = real.Terminal(tmp_path, (120, 30))
    opened.home.mkdir()
    (opened.home / "config.yaml").write_text("backends: {local: {wall: none}}\n")
    (opened.work / "tree.sh").write_text(TREE)
    yield opened
    opened.end()
    for pid in commands(opened.work):
        os.kill(pid, signal.SIGKILL)


def commands(folder: Path) -> list[int]:
    """Commands that a tool started in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder and b"sleep" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def hermes(folder: Path) -> int:
    """The process of the terminal in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if (
                (process / "cwd").readlink() == folder
                and sys.executable.encode() in words[0]
                and b"--provider" in words
            ):
                return int(process.name)
    raise AssertionError("it does not run")


@pytest.mark.parametrize("name", ["TERM", "HUP"])
@pytest.mark.parametrize("face", FACES)
def test_it_ends_its_commands_and_says_how_to_come_back(terminal: real.Terminal, face: str, name: str) -> None:
    terminal.hermes(f"{face} --provider offline --yolo", seen=FACES[face])
    terminal.say("run `sh tree.sh`")
    terminal.until(lambda _: (terminal.work / "began").exists())
    real.terminal_tmux.wait_for(lambda: len(commands(terminal.work)) >= 3)
    os.kill(hermes(terminal.work), getattr(signal, f"SIG{name}"))
    assert terminal.left() == 130
    assert BACK.search(terminal.screen())
    assert not commands(terminal.work)
    terminal.hermes("-c --cli --provider offline --yolo", seen="ended it with all")
    assert [who for who, _ in terminal.told()][:4] == ["system", "user", "assistant", "tool"]


def test_a_window_that_is_closed_leaves_the_turn_to_be_finished(terminal: real.Terminal) -> None:
    terminal.hermes("--tui --provider offline --yolo")
    terminal.say("run `sh tree.sh`")
    terminal.until(lambda _: (terminal.work / "began").exists())
    terminal.end()
    real.terminal_tmux.wait_for(lambda: not commands(terminal.work))
    environ = {"PATH": os.environ["PATH"], **{name: str(value) for name, value in terminal.names.items()}}
    command = [str(real.HERMES), "sessions", "list", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ, cwd=terminal.work)
    assert json.loads(done.stdout)["state"] == "interrupted"


@pytest.mark.parametrize("face", FACES)
def test_who_leaves_is_told_how_to_come_back(terminal: real.Terminal, face: str) -> None:
    terminal.hermes(f"{face} --provider offline", seen=FACES[face])
    terminal.say("hello")
    terminal.until(lambda screen: screen.count("hello") > 1 or "Hello" in screen)
    terminal.type("/exit", "Enter")
    assert terminal.left() == 0
    assert re.search(r"Go on: \S*hermes -c, or \S*hermes\s+-r \S+", terminal.screen())
