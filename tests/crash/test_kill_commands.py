"""The same with real processes: what a person sees after a death, and how each way in goes on."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import psycopg
import pytest

from hermes_core import Hermes
from hermes_core.types import Ended, Said

pytestmark = pytest.mark.long

ANSWER = "The train to Oslo leaves at nine."


class Shell:
    """``shell("resume")`` runs a command in a home of its own; ``die_at`` kills it there, ``fresh`` starts Python."""

    def __init__(self, folder, standby, url: str = "") -> None:
        self.home, self.folder, self.standby = folder / "home", folder / "work", standby
        self.folder.mkdir()
        if url:
            self.home.mkdir()
            self.home.joinpath("config.yaml").write_text("store: {url: env:HERMES_TEST_STORE}\n")
        self.folder.joinpath("notes.md").write_text(f"{ANSWER}\n")
        keep = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_") and not k.endswith("_BASE_URL")}
        self.env = {**keep, "HERMES_HOME": str(self.home), "HOME": str(folder), "HERMES_TEST_STORE": url}

    def start(self, *words: str, die_at: str = "", fresh: bool = False, **options) -> subprocess.Popen:
        env = {**self.env, **({"HERMES_TESTING": "1", "HERMES_DIE_AT": die_at} if die_at else {})}
        command = [*([sys.executable, "-m", "hermes_core"] if fresh else [str(self.standby / "hermes")]), *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(command, text=True, env=env, cwd=self.folder, **pipes)

    def __call__(self, *words: str, typed: str | None = None, **options) -> subprocess.CompletedProcess:
        pipe = {} if typed is None else {"stdin": subprocess.PIPE}
        with self.start("--provider", "offline", *words, **pipe, **options) as process:
            out, err = process.communicate(typed, timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def killed(self, die_at: str = "tool_done", text: str = "read notes.md", **how) -> None:
        """A one-shot that dies."""
        assert self("-z", text, die_at=die_at, **how).returncode == -signal.SIGKILL

    def state(self) -> list[str]:
        return [json.loads(line)["state"] for line in self("sessions", "list", "--json").stdout.splitlines()]


@pytest.fixture
def shell(tmp_path, standby, kept_in, request):
    return Shell(tmp_path, standby, request.getfixturevalue("database_url") if kept_in == "postgresql" else "")


def test_resume_prints_the_answers_of_all_interrupted_turns(shell):
    shell.killed("tool_done")
    shell.killed("answered", fresh=True)
    assert shell.state() == ["interrupted"] * 2
    done = shell("resume", fresh=True)
    assert (done.returncode, done.stdout.count(ANSWER)) == (0, 2)
    assert shell.state() == ["idle"] * 2
    again = shell("resume")
    assert (again.returncode, again.stdout) == (0, "")
    assert "No turn was interrupted." in again.stderr


def test_resume_of_one_session_leaves_the_others(shell):
    shell.killed()
    shell.killed()
    rows = [json.loads(line) for line in shell("sessions", "list", "--json").stdout.splitlines()]
    done = shell("resume", rows[1]["id"], "--json")
    row = json.loads(done.stdout)
    assert (row["session_id"], row["reason"], row["error"]) == (rows[1]["id"], "done", "")
    assert ANSWER in row["answer"]
    assert shell.state() == ["idle", "interrupted"], "the resumed one was used last"
    assert shell("resume", "nosuch").returncode == 2


def test_what_cannot_be_finished_is_said_and_the_session_stays_usable(shell):
    shell.killed()
    assert shell("plugins", "disable", "offline").returncode == 0  # what the turn was begun with is gone
    done = shell("--provider", "ollama", "--model", "m", "resume", "--json")
    row = json.loads(done.stdout)
    assert (done.returncode, row["reason"], row["answer"]) == (1, "failed", "")
    assert row["error"]
    assert shell("plugins", "enable", "offline", "--yes").returncode == 0
    assert ANSWER in shell("-c", "-z", "read notes.md").stdout


def test_a_turn_nobody_wants_is_given_up(shell):
    shell.killed("replied")
    assert "given up" in shell("resume", "--drop").stderr
    assert shell.state() == ["idle"]
    assert "No turn was interrupted." in shell("resume").stderr
    done = shell("-c", "-z", "read notes.md")
    assert (done.stdout.count(ANSWER), ANSWER in done.stderr) == (1, False)


def test_going_on_finishes_what_was_interrupted_first(shell):
    shell.killed()
    done = shell("-c", "-z", "list the files here")
    assert "notes.md" in done.stdout
    assert ANSWER not in done.stdout, "stdout holds the answer that was asked for"
    assert ANSWER in done.stderr
    lines = [json.loads(line) for line in shell("sessions", "export").stdout.splitlines()]
    assert [m["role"] for m in lines[1:]] == ["user", "assistant", "tool", "assistant"] * 2


def test_events_of_both_turns_come_in_order(shell):
    shell.killed()
    done = shell("-r", "latest", "--json", "-z", "hello")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    first, second = [e for e in events if e["type"] == "ended"]
    assert ANSWER in first["answer"]
    assert (first["reason"], second["reason"]) == ("done", "done")
    assert first["turn_id"] != second["turn_id"]


def test_a_conversation_shows_the_answer_before_the_first_prompt(shell):
    shell.killed()
    assert ANSWER in shell("-c", typed="").stdout
    assert ANSWER not in shell("-c", typed="").stdout, "it is shown once"
    shell.killed()
    done = shell("-c", typed="list the files here\n")
    assert done.returncode == 0
    assert done.stdout.index(ANSWER) < done.stdout.index("notes.md", done.stdout.index(ANSWER))
    assert set(shell.state()) == {"idle"}


def test_doctor_counts_interrupted_turns_and_says_how_to_mend_them(shell):
    shell.killed()
    rows = json.loads(shell("doctor", "--json").stdout)["findings"]
    [row] = [r for r in rows if r["who"] == "turns"]
    assert (row["level"], row["text"], row["fix"]) == ("asks", "1 cut off when Hermes was killed", "hermes resume")
    shell("resume")
    rows = json.loads(shell("doctor", "--json").stdout)["findings"]
    assert not [r for r in rows if r["who"] == "turns"]


async def test_a_program_resumes_by_session(shell, monkeypatch):
    monkeypatch.setenv("HERMES_TEST_STORE", shell.env["HERMES_TEST_STORE"])
    shell.killed("answered")
    monkeypatch.chdir(shell.folder)
    async with Hermes(home=shell.home, provider="offline") as hermes:
        [session] = await hermes.interrupted()
        events = [event async for event in hermes.resume(session)]
        assert ANSWER in "".join(e.text for e in events if isinstance(e, Said))
        assert isinstance(events[-1], Ended)
        assert ANSWER in events[-1].answer
        assert [event async for event in hermes.resume(session)] == []
        assert await hermes.interrupted() == []


@pytest.mark.parametrize("name", ["nosuch", "replied:x"])
def test_a_point_that_cannot_be_reached_is_an_error(shell, name):
    done = shell("-z", "hello", die_at=name)
    assert done.returncode == 2
    assert name.partition(":")[0] in done.stderr


def test_nobody_dies_outside_of_tests(shell):
    shell.env["HERMES_DIE_AT"] = "replied"
    assert shell("-z", "hello").returncode == 0


POINTS = ("received", "leased", "journaled", "replied", "tool_started", "tool_done", "tool_stored", "answered")


@pytest.mark.parametrize("point", POINTS)
def test_what_is_done_in_the_background_is_neither_lost_nor_doubled(shell, point):
    with shell.start("--provider", "offline", die_at=point, stdin=subprocess.PIPE) as process:
        process.stdin.write("/background read notes.md\n")
        process.stdin.flush()
        assert process.wait(60) == -signal.SIGKILL
    done = shell("resume")
    assert (done.returncode, done.stdout.count(ANSWER)) == (0, 1)
    assert shell.state() == ["idle"]
    assert "No turn was interrupted." in shell("resume").stderr
    lines = [json.loads(line) for line in shell("sessions", "export").stdout.splitlines()]
    assert [m["role"] for m in lines[1:]] == ["user", "assistant", "tool", "assistant"]


SLOW = "run `cat pipe`"  # nobody writes into the pipe until the test does


@pytest.fixture
def running(shell):
    """A turn in the middle of a tool call, and the pipe that ends the call."""
    pipe = shell.folder / "pipe"
    os.mkfifo(pipe)
    with shell.start("--provider", "offline", "--yolo", "--json", "-z", SLOW, fresh=True) as process:
        for line in process.stdout:
            if json.loads(line)["type"] == "called":
                break
        end = os.open(pipe, os.O_WRONLY)  # returns when the command reads
        yield process, end
        process.kill()


def test_a_turn_that_runs_is_left_alone_and_one_that_died_is_taken_over(shell, running):
    process, end = running
    assert shell.state() == ["running"]
    assert "No turn was interrupted." in shell("resume").stderr
    assert "No turn was interrupted." in shell("resume", "latest").stderr
    assert "is busy" in shell("-c", "-z", "hello").stderr
    process.kill()
    process.wait()
    os.close(end)
    assert shell.state() == ["interrupted"]
    done = shell("resume", "--json")
    assert json.loads(done.stdout)["reason"] == "done"
    [call] = [json.loads(line) for line in shell("tools", "history", "--json").stdout.splitlines()]
    assert call["outcome"] == "unknown"


def test_who_waits_has_the_session_when_it_is_free(shell, running):
    process, end = running
    waits = [
        shell.start("--provider", "offline", "chat", "-c", "--wait", "-q", f"read notes.md {number}")
        for number in (1, 2)
    ]
    with pytest.raises(subprocess.TimeoutExpired):
        waits[0].wait(1.5)
    os.close(end)
    assert process.wait(30) == 0
    for one in waits:
        with one:
            out, err = one.communicate(timeout=60)
        assert (one.returncode, ANSWER in out, "is busy" in err) == (0, True, False)
    assert shell.state() == ["idle"]


def test_a_holder_that_stopped_beating_is_replaced_and_what_it_writes_is_refused(shell, running):
    process, end = running
    process.send_signal(signal.SIGSTOP)
    if url := shell.env["HERMES_TEST_STORE"]:
        with psycopg.connect(url) as server:
            server.execute("UPDATE leases SET beat = beat - 61")
    else:
        with sqlite3.connect(shell.home / "state.db") as database:
            database.execute("UPDATE leases SET beat = ?", (time.monotonic() - 61,))
        database.close()
    with shell.start("--provider", "offline", "resume", "--json") as resuming:  # it waits for what still runs
        with pytest.raises(subprocess.TimeoutExpired):
            resuming.wait(1.5)
        os.write(end, b"late\n")
        os.close(end)
        done, _ = resuming.communicate(timeout=60)
    assert json.loads(done)["reason"] == "done"
    before = shell("sessions", "export").stdout
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=60)
    assert "stale_lease" in [json.loads(line).get("kind") for line in out.splitlines()]
    assert shell("sessions", "export").stdout == before
    assert shell.state() == ["idle"]
