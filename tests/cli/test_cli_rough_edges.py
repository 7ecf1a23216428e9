"""What a person or a plugin does that nobody planned for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = """# /// hermes
# api = 1
# name = "grumpy"
# kind = "tool"
# summary = "Fails when it is called."
# [hooks]
# use = ["on_session_start"]
# ///
from hermes_core import hookimpl

@hookimpl
async def on_session_start(session):
    raise ValueError("boo")
"""


def hermes(home: Path, *words: str, shell: str = "", standby: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HERMES_HOME": str(home), "HOME": str(home)}
    command = [*([str(standby / "hermes")] if standby else [sys.executable, "-m", "hermes_core"]), *words]
    if shell:
        command = ["sh", "-c", f'exec "$@" {shell}', "sh", *command]
    return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, timeout=60, check=False)


def test_a_pipe_among_the_plugins_is_named_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    os.mkfifo(tmp_path / "plugins" / "fifo.py")
    done = hermes(tmp_path, "plugins", "list")
    assert done.returncode == 0
    assert "is not a file" in done.stdout


def test_a_closed_stdout_ends_in_no_traceback(tmp_path: Path) -> None:
    done = hermes(tmp_path, "--provider", "offline", "-z", "hello", shell=">&-")
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_in_a_folder_that_is_gone_it_is_said_and_what_needs_none_works(tmp_path: Path) -> None:
    gone, command = tmp_path / "gone", f'"{sys.executable}" -P -m hermes_core'
    env = {**os.environ, "HERMES_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def run(words: str) -> subprocess.CompletedProcess[str]:
        gone.mkdir()
        script = f'cd "{gone}" && rmdir "{gone}" && {command} {words}'
        return subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, timeout=60, check=False)

    for words in ("--provider offline -z hello", "--provider offline chat </dev/null", "checkpoints list"):
        done = run(words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("The current folder is gone.\ncd to another "), words
    assert run("sessions list").returncode == 0
    assert run("checkpoints status").stdout.startswith("Snapshots are on.")


def test_doctor_names_a_plugin_whose_hook_failed(tmp_path: Path, standby: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "grumpy.py").write_text(PLUGIN)
    assert hermes(tmp_path, "plugins", "enable", "tool/grumpy", "--yes", standby=standby).returncode == 0
    assert hermes(tmp_path, "doctor", standby=standby).returncode == 0
    said = hermes(tmp_path, "--provider", "offline", "-z", "hello", standby=standby)
    assert said.returncode == 0
    assert "ValueError: boo" in said.stderr
    found = hermes(tmp_path, "doctor", standby=standby)
    assert found.returncode == 1
    row = next(line for line in found.stdout.splitlines() if "boo" in line)
    assert row.split()[:2] == ["fault", "tool/grumpy"]
    assert "call: on_session_start" in row


def test_words_are_understood_where_the_locale_knows_only_ascii(tmp_path: Path) -> None:
    env = {**os.environ, "HERMES_HOME": str(tmp_path), "HOME": str(tmp_path)}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [sys.executable, "-m", "hermes_core", "--provider", "offline", "-z", "문서"]
    subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert "문서" in hermes(tmp_path, "sessions", "export", "latest").stdout
