"""The whole program on a real terminal (tmux), with an empty home and rules that answer."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

spec = importlib.util.spec_from_file_location("terminal_tmux", Path(__file__).with_name("terminal_tmux.py"))
assert spec
assert spec.loader
terminal_tmux = importlib.util.module_from_spec(spec)
spec.loader.exec_module(terminal_tmux)

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
HERMES = Path(sys.executable).with_name("hermes")
INVITATION = "Ask anything"
LEFT = re.compile(r"left-with-(\d+)")


class Terminal(terminal_tmux.Tmux):
    """A terminal in which nothing of the person who runs the tests is known: no key, no home, no model."""

    def __init__(self, folder: Path, size: tuple[int, int] = (80, 24)) -> None:
        super().__init__(folder, size)
        self.home, self.work = folder / "hermes", folder / "work"
        self.work.mkdir()
        self.names = {"HOME": folder, "HERMES_HOME": self.home, "LC_ALL": "C.UTF-8", "PS1": "ready$ "}
        given = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in self.names.items())
        self.type(f'exec env -i PATH="$PATH" TERM="$TERM" {given} bash --norc', "Enter")
        self.type("cd work; ulimit -c 0; clear; echo all is set", "Enter")
        self.until(lambda screen: screen.startswith("all is set"))

    def hermes(self, words: str = "--tui --provider offline", *, before: str = "", seen: str = INVITATION) -> None:
        """Begin, and wait until it can be typed into."""
        self.type(f"clear; {before}{HERMES} {words}; echo left-with-$?", "Enter")
        self.until(lambda screen: re.search(seen, screen))

    def say(self, text: str) -> None:
        self.type(text)
        self.until(lambda screen: text[-20:] in screen)
        self.type("", "Enter")

    def shown(self) -> list[str]:
        """The rows that are on the screen, and none of before."""
        return self.do("capture-pane", "-p").split("\n")

    def rows(self, seen: Callable[[list[str]], object]) -> list[str]:
        self.until(lambda _: seen(self.shown()))
        return self.shown()

    def told(self, session: str = "") -> list[tuple[str, str]]:
        """Who said what, as the store has it."""
        environ = {"PATH": os.environ["PATH"], **{name: str(value) for name, value in self.names.items()}}
        command = [str(HERMES), "sessions", "export", *([session] if session else [])]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ, cwd=self.work)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [(row.get("role", ""), row.get("content") or "") for row in rows]

    def left(self) -> int:
        """How it ended."""
        screen = self.until(LEFT.search)
        assert "Traceback" not in screen
        return int(LEFT.findall(screen)[-1])

    def resize(self, width: int, height: int) -> None:
        self.do("resize-window", "-x", str(width), "-y", str(height))

    def paste(self, text: str) -> None:
        """As a terminal pastes: between marks, and as it is."""
        (self.folder / "clipboard").write_text(text, newline="")
        self.do("load-buffer", str(self.folder / "clipboard"))
        self.do("paste-buffer", "-p", "-r")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.end()
    (opened.work / "over").touch()  # for a command that outlived its Hermes


def stands(rows: list[str], width: int, height: int) -> bool:
    """Whether the input and the status bar are whole, where they belong, and the only ones."""
    rows = rows[:height]
    box = [row for row in rows if row[:1] in "╭╰│" and len(row.rstrip()) == width]
    return (
        len(rows) == height
        and len(box) == 3
        and rows[height - 4].startswith("╭")
        and rows[height - 2].startswith("╰")
        and "rules-1" in rows[height - 1]
    )


def test_what_is_said_is_answered_and_nothing_of_it_is_left_behind(terminal: Terminal) -> None:
    before = terminal.state("before")
    terminal.hermes()
    terminal.until(lambda screen: "F2      earlier conversations" in screen)
    terminal.say("write 日本語 to notes.txt, then read it")
    rows = terminal.rows(lambda rows: any("in · " in row for row in rows) and stands(rows, 80, 24))
    assert any("✓ write_file" in row for row in rows)
    assert stands(rows, 80, 24)
    assert (terminal.work / "notes.txt").read_text().strip() == "日本語"
    terminal.do("send-keys", "C-q")
    assert terminal.left() == 0
    assert terminal.state("after") == before
    assert "write_file" not in terminal.screen()


def test_an_answer_is_wrapped_anew_when_the_terminal_changes_its_size(terminal: Terminal) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    (terminal.work / "long.txt").write_text(f"{words}\n")
    terminal.hermes()
    terminal.resize(120, 40)
    terminal.say("read long.txt")
    terminal.rows(lambda rows: any("in · " in row for row in rows))
    for width, height in ((40, 12), (80, 24), (120, 40), (80, 24)):
        terminal.resize(width, height)
        rows = terminal.rows(
            lambda rows, width=width, height=height: stands(rows, width, height) and any("in · " in row for row in rows)
        )
        end = next(number for number, row in enumerate(rows) if "in · " in row)
        answer = [row[: width - 1].strip().lstrip("↪ ") for row in rows[:end] if "┊" not in row]
        told = "".join(answer)[-len(words) // 3 :]
        assert told.replace(" ", "") in words.replace(" ", ""), rows
        assert max(map(len, (row.rstrip() for row in rows))) <= width
    assert sum("read long.txt" in row for row in rows) == 1


def test_a_paste_is_a_chip_and_is_sent_whole(terminal: Terminal) -> None:
    terminal.hermes()
    lines = "".join(f"line {number}\r\x1b[A\x1b\n" for number in range(40))
    terminal.paste(lines)
    terminal.until(lambda screen: "[paste #1: " in screen)
    big = "".join(f"{number:07}\n" for number in range(131_072))
    assert len(big) == 1 << 20
    terminal.paste(big)
    terminal.until(lambda screen: "[paste #2: 131,072 lines]" in screen)
    assert "line 3" not in terminal.screen(), "the paste pressed Enter"
    terminal.type("thanks", "Enter")
    terminal.until(lambda screen: "in · " in screen)
    terminal.do("send-keys", "C-q")
    assert terminal.left() == 0
    [(_, said)] = [(who, text) for who, text in terminal.told() if who == "user"]
    assert "\x1b" not in said
    assert [f"line {number}" in said for number in range(40)] == [True] * 40
    assert big.strip() in said
    assert said.rstrip().endswith("thanks")


def test_a_question_is_put_before_anything_runs_and_a_key_answers_it(terminal: Terminal) -> None:
    remote = terminal.folder / "remote"
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    for words in (
        ["init", "-q", "--bare", "../remote"],
        ["init", "-q"],
        [*identity, "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *words], check=True, cwd=terminal.work)
    terminal.home.mkdir(exist_ok=True)
    (terminal.home / "config.yaml").write_text("backends: {local: {wall: none}}\n")  # what is asked about happens then
    terminal.hermes()
    for key, wanted, heads in (("d", "⊘ terminal", 0), ("o", "✓ terminal", 1)):
        terminal.say("run git push ../remote HEAD:main")
        terminal.rows(lambda rows: any("│" in row and "git push ../remote" in row for row in rows) and _asks(rows))
        assert not list((remote / "refs/heads").iterdir())
        time.sleep(0.7)  # what comes with the question is not taken for an answer
        terminal.type(key)
        terminal.rows(lambda rows, wanted=wanted: any(wanted in row for row in rows))
        terminal.rows(lambda rows, turns=heads + 1: sum("in · " in row for row in rows) == turns)
        assert len(list((remote / "refs/heads").iterdir())) == heads


def _asks(rows: list[str]) -> bool:
    return any("once" in row.lower() for row in rows)


def test_ctrl_z_gives_the_terminal_back_and_fg_shows_it_again(terminal: Terminal) -> None:
    before = terminal.state("before")
    terminal.hermes()
    terminal.say("write hello to notes.txt")
    terminal.rows(lambda rows: any("in · " in row for row in rows))
    terminal.type("half a thought")
    terminal.rows(lambda rows: any("half a thought" in row for row in rows))
    terminal.do("send-keys", "C-z")
    terminal.until(lambda screen: "Stopped" in screen)
    assert terminal.state("stopped") == before
    terminal.type("clear; fg", "Enter")
    rows = terminal.rows(lambda rows: any("half a thought" in row for row in rows))
    assert any("✓ write_file" in row for row in rows)
    terminal.do("send-keys", "C-q")
    terminal.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert terminal.state("after") == before


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "KILL"])
def test_killed_in_the_middle_it_goes_on_where_it_was(terminal: Terminal, name: str) -> None:
    before = terminal.state("before")
    terminal.hermes("--tui --yolo --provider offline")
    terminal.say("run sh -c 'echo begun >> begun; until [ -e over ]; do sleep 0.1; done', then write done to notes.txt")
    terminal_tmux.wait_for((terminal.work / "begun").exists)
    os.kill(terminal.process(), getattr(signal, f"SIG{name}"))
    code = terminal.left()
    if name == "KILL":
        assert code == 128 + signal.SIGKILL
    else:
        assert terminal.state("after") == before
    terminal.hermes("--tui --yolo --provider offline -c")
    over = name == "INT"  # stopped by its person, the turn is over; else it goes on
    said = "The outcome of this call is unknown" if over else "while this command ran"
    terminal.until(lambda screen: said in screen)
    if over:
        terminal.say("write more to notes.txt")
    rows = terminal.rows(lambda rows: any("in · " in row for row in rows))
    shown = sum("run sh -c 'echo begun >> begun;" in row for row in rows)
    assert shown == 1 or (shown == 0 and not over)  # what goes on says more, and may have moved it out of sight
    terminal.do("send-keys", "C-q")
    terminal.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert terminal.state("end")[:2] == before[:2]
    told = terminal.told()
    assert sum(who == "user" for who, _ in told) == (2 if over else 1)
    answers = [text for who, text in told if who == "assistant" and text and "This turn was interrupted" not in text]
    assert len(answers) == 1
    assert (terminal.work / "begun").read_text() == "begun\n"


def test_no_color_writes_no_colour(terminal: Terminal) -> None:
    log = terminal.folder / "written"
    terminal.do("pipe-pane", "-O", f"cat > {shlex.quote(str(log))}")
    terminal.hermes(before="NO_COLOR=1 ")
    terminal.say("read nothing.txt")
    terminal.rows(lambda rows: any("in · " in row for row in rows))
    terminal.do("send-keys", "C-q")
    assert terminal.left() == 0
    written = log.read_text()
    screen = pyte.Screen(80, 24)
    stream = pyte.Stream(screen)
    coloured = 0
    for piece in written.split("\x1b[?2026l"):
        stream.feed(piece)
        cells = [cell for row in screen.buffer.values() for cell in row.values()]
        coloured += sum((cell.fg, cell.bg) != ("default", "default") for cell in cells)
    assert "rules-1" in written
    assert coloured == 0


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("TERM=dumb ", "", "This terminal says it is 'dumb'"),
        ("", "< /dev/null", "Input is not a terminal"),
        ("", "| cat", "Output is not a terminal"),
    ],
    ids=["dumb", "input", "output"],
)
def test_where_there_is_no_screen_it_says_so_or_talks_in_plain_text(
    terminal: Terminal, before: str, after: str, seen: str
) -> None:
    terminal.resize(200, 30)
    found = terminal.state("before")
    terminal.hermes(f"--tui --provider offline {after}", before=before, seen=LEFT.pattern)
    screen = terminal.screen()
    assert seen in screen
    assert "hermes --cli" in screen
    terminal.type(f"clear; echo hello | {before}{HERMES} --provider offline {after}; echo done-$?", "Enter")
    screen = terminal.until(lambda screen: re.search(r"^done-\d", screen, re.MULTILINE))
    if after != "< /dev/null":
        assert "I am a small set of rules" in screen
    assert terminal.state("after") == found


def test_a_terminal_that_is_too_small_is_told_what_to_do(terminal: Terminal) -> None:
    terminal.resize(30, 8)
    terminal.hermes(seen="left-with-2")
    said = "".join(terminal.shown())
    assert "30×8" in said
    assert "40×12" in said.replace(" ", "")
    assert "--cli" in said
    terminal.resize(80, 24)
    terminal.hermes()
    terminal.resize(30, 8)
    terminal.type("still here")
    terminal.rows(lambda rows: any("still here" in row for row in rows))
