"""What programs do that should print a secret, and what comes of it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from hermes_core.errors import UserError
from hermes_tool_secrets.process import run

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"
TOKENS = {"OP_SERVICE_ACCOUNT_TOKEN": "ops_x", "BWS_ACCESS_TOKEN": "0.x"}


def refused(source, reference="//x", seconds=10.0) -> str:
    with pytest.raises(UserError) as caught:
        source.read(reference, seconds)
    assert caught.value.hint, "it says what to do"
    return f"{caught.value.text} {caught.value.hint}"


def test_a_program_has_what_it_needs_and_nothing_else(op, sources, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-secret")
    monkeypatch.setenv("LD_PRELOAD", "/nowhere.so")
    monkeypatch.setenv("OP_ACCOUNT", "my.1password.com")
    source = sources(TOKENS, arguments={"op": ["--cache=false"]})["op"]
    assert source.read("//Private/OpenAI/credential", 10) == KEY
    words, environ, folder, typed = json.loads((tmp_path / "seen").read_text())
    assert words == ["--cache=false", "read", "--no-newline", "op://Private/OpenAI/credential"]
    assert (folder, typed) == ("/", "")
    assert environ["OP_SERVICE_ACCOUNT_TOKEN"] == "ops_x"
    assert environ["OP_ACCOUNT"] == "my.1password.com"
    known = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"}
    assert {name for name in environ if not name.startswith(("OP_", "XDG_", "DBUS_"))} - known <= {
        "DISPLAY",
        "WAYLAND_DISPLAY",
    }


@pytest.mark.usefixtures("op", "bws")
def test_who_is_not_let_in_says_how(sources):
    made = sources()
    assert refused(made["op"]).startswith("Nobody is signed in. Log in: op signin")
    assert refused(made["bws"], "4ea8").startswith("There is no access token.")
    made = sources(TOKENS)
    assert refused(made["op"]).startswith("There is no such item.")
    assert refused(made["bws"], "4ea8").startswith("There is no such secret")


def test_a_program_that_is_not_there_says_where_to_get_it(sources, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "The program op is not on this machine. Install it: https://" in refused(sources()["op"])


def test_the_folder_one_is_in_holds_no_program(sources, program, monkeypatch, tmp_path):
    program("op", "print('of the folder')")
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", ".::bin")
    assert "is not on this machine" in refused(sources()["op"])
    assert "is not on this machine" in refused(sources(programs={"op": "./op"})["op"])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (f"import sys; sys.exit('no: {KEY}')", "ended with status 1"),
        ("import os; os.kill(os.getpid(), 9)", "ended with status"),
        ("print('x' * 10_000_000)", "more than a megabyte"),
        ("import sys; sys.stderr.write('x' * 10_000_000); sys.exit(1)", "ended with status 1"),
        ("import sys; sys.stdout.buffer.write(bytes([255, 254]))", "is no text"),
    ],
)
@pytest.mark.parametrize("name", ["pass", "op", "bws"])
def test_what_a_program_says_when_it_fails_is_not_shown(sources, program, name, code, told):
    program(name, code)
    shown = refused(sources(TOKENS)[name])
    assert told in shown
    assert KEY not in shown
    assert "xxx" not in shown


@pytest.mark.parametrize("printed", ["", "[]", "{}", "null", "[" * 5_000, '{"value": 7}', "not JSON"])
def test_what_is_no_json_gives_no_secret(sources, program, printed):
    program("bws", f"print({printed!r})")
    source = sources(TOKENS)["bws"]
    for ask in (lambda: source.read("4ea8", 10), lambda: source.read_all(10)):
        found, hint = None, "none is needed"
        try:
            found = ask()
        except UserError as error:
            hint = error.hint
        assert not found
        assert hint


def test_of_an_entry_of_pass_the_first_line_counts(sources, program):
    program("pass", f"print({KEY!r}); print('user: me')")
    assert sources()["pass"].read("hermes/openai", 10) == KEY
    program("pass", "print('hermes'); print('└── openai')")
    assert refused(sources()["pass"], "hermes").startswith("That is a folder.")


@pytest.mark.parametrize("reference", ["--clip", "-c", "a\nb", "a\0b", "\x1b[2J"])
def test_a_reference_is_no_option(sources, program, reference):
    program("pass", "print('ran')")
    assert refused(sources()["pass"], reference).startswith("This is no reference.")


def test_an_own_program_runs_without_a_shell(sources):
    made = sources(commands={"one": ["/bin/echo", "$HOME; id", "`id`"], "gone": ["/no/such"], "empty": []})["command"]
    assert made.read("one", 10) == "$HOME; id `id`"
    assert "is not there" in refused(made, "gone")
    assert "names no program" in refused(made, "empty")
    assert "names no program" in refused(made, "other")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - gone between two looks
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    for _ in range(500):
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


SLEEPS = """
import os, subprocess, sys, time
child = subprocess.Popen(["/bin/sleep", "300"])
open(SEEN, "w").write(f"{os.getpid()} {child.pid}")
time.sleep(300)
"""


def test_one_that_hangs_is_ended_with_what_it_started(sources, program, tmp_path):
    program("pass", SLEEPS)
    assert "pass did not end within 0.5 s" in refused(sources()["pass"], "x", 0.5)
    assert all(gone(int(pid)) for pid in (tmp_path / "seen").read_text().split())


def test_what_goes_into_the_background_is_not_waited_for(sources, program, tmp_path):
    program("pass", SLEEPS.replace("time.sleep(300)", f"print({KEY!r})"))
    assert sources()["pass"].read("x", 60) == KEY
    assert all(gone(int(pid)) for pid in (tmp_path / "seen").read_text().split())


def test_one_that_hangs_ends_also_when_we_are_killed(program, tmp_path):
    path = program("pass", SLEEPS)
    code = f"from hermes_tool_secrets.process import run; run([{str(path)!r}], 1.0, (), {{}})"
    ours = subprocess.Popen([sys.executable, "-c", code])
    for _ in range(1_000):
        if (tmp_path / "seen").exists() and " " in (tmp_path / "seen").read_text():
            break
        time.sleep(0.01)
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    assert all(gone(int(pid)) for pid in (tmp_path / "seen").read_text().split())


def test_an_answer_shows_nothing_of_itself():
    answer = run(["/bin/echo", KEY], 10, (), {})
    assert answer.printed == f"{KEY}\n".encode()
    assert KEY not in repr(answer)
    assert KEY not in str(dict(os.environ))
