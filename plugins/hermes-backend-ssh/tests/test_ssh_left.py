"""A command on another machine that outlives its Hermes is waited for there, and never made twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.real, pytest.mark.long]


def test_it_is_found_again_over_there(server, tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    for made in (home, work):
        made.mkdir()
    known = {"host": server.host, "port": server.port, "key": server.key, "options": server.options}
    config = {"model": {"provider": "offline"}, "terminal": {"backend": "ssh"}}
    config["backends"] = {"ssh": {**known, "folder": str(work)}}
    (home / "config.yaml").write_text(json.dumps(config))
    keep = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    env = {**keep, "HERMES_HOME": str(home)}
    command = [sys.executable, "-m", "hermes_core", "--yolo"]

    def effects():
        return (work / "effect").read_text().count("once") if (work / "effect").exists() else 0

    script = "echo begun; touch began; sleep 6; echo once >> effect"
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "-z", f"run `{script}`"], env=env, cwd=work, **pipes) as process:
        deadline = time.monotonic() + 60
        while not (work / "began").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert effects() == 0
    done = subprocess.run([*command, "resume", "--json"], env=env, cwd=work, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["reason"] == "done", done.stderr
    assert effects() == 1
    told = subprocess.run([*command, "sessions", "export"], env=env, cwd=work, capture_output=True, timeout=60).stdout
    assert b"was waited for, and has ended by itself" in told
    assert b"begun" in told
