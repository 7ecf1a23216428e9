"""Erasing a session or a person leaves no byte: the home is searched for what they said, their ids and their name."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from hermes_tool_kit.provenance.ledger import Ledger, Mark
from hermes_tool_upkeep.traces import clean_logs

CANARY, PERSON = "zanzibarowl", "quinceanna"
KEY, HERS = "a-key-of-the-owner-0123456789", "a-key-of-her-own-0123456789"


def holding(home: Path, *words: str) -> list[str]:
    """The files of a home in which a word stands, or in whose name; in packed snapshots of files too."""
    found = []
    for path in home.rglob("*"):
        data = path.read_bytes().decode("latin-1").casefold() if path.is_file() else ""
        if any(word in data or word in path.name.casefold() for word in words):
            found.append(str(path.relative_to(home)))
    if (store := home / "data" / "tool-checkpoints" / "store").is_dir():
        command = ["git", "-C", str(store), "cat-file", "--batch-all-objects", "--batch"]
        packed = subprocess.run(command, capture_output=True, check=True).stdout.decode("latin-1").casefold()
        found += [f"a snapshot: {word}" for word in words if word in packed]
    return found


def sessions_of(home: Path) -> list[str]:
    return [path.stem for path in (home / "sessions").glob("*.jsonl")]


@pytest.fixture
def bare(tmp_path):
    """A home without a store yet, with the folder to work in beside it."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    (home / "config.yaml").write_text("model: {provider: offline}\nlogging: {level: DEBUG}\n")
    return home


@pytest.fixture
def say(bare):
    def invoke(*words, **more):
        env = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
        env |= {"HERMES_HOME": str(bare), **more}
        command = [sys.executable, "-P", "-m", "hermes_core", *words]
        place = bare.parent / "work"
        return subprocess.run(command, env=env, cwd=place, capture_output=True, text=True, check=False, timeout=60)

    return invoke


def test_no_byte_of_a_session_stays(say, bare):
    assert say("--yolo", "-z", f"write {CANARY} to note.txt, then write {CANARY} two to note.txt").returncode == 0
    [session] = sessions_of(bare)
    ledger = Ledger(bare)
    window = ledger.begin(str(bare.parent / "work"), f"web_fetch, in {session}")
    ledger.end(window, [Mark("/somewhere/page.html", "d", 1)], ["/somewhere/tree"])
    ledger.close()
    where = holding(bare, session, CANARY)
    for part in ("state.db", "provenance.db", "hermes.log", "snapshot", "sessions"):
        assert any(part in one for one in where), (part, where)
    done = say("store", "erase", "--session", session, "--yes")
    assert done.returncode == 0, done.stderr
    assert holding(bare, session, CANARY) == []
    ledger = Ledger(bare)
    assert ledger.marks_in("/somewhere") == ["/somewhere/page.html", "/somewhere/tree"], "what came in stays marked"
    ledger.close()


def test_what_a_copy_brought_back_is_known_by_its_digest(say, bare):
    assert say("-z", f"hello {CANARY}").returncode == 0
    [session] = sessions_of(bare)
    copy = (bare / "state.db").read_bytes()
    assert say("store", "erase", "--session", session, "--yes").returncode == 0
    (bare / "state.db").write_bytes(copy)
    assert "Erased: 1 session" in say("store", "erase", "--again", "--yes").stderr
    assert holding(bare, session, CANARY) == []


def test_a_log_loses_the_lines_that_name_them_and_nothing_else(tmp_path):
    log = tmp_path / "hermes.log"
    lines = [json.dumps({"event": "turn", "session": name}) for name in ("abc-1", "abc-12", "of ana", "banana", "ana")]
    log.write_text("".join(f"{line}\n" for line in lines) + "a line that was cut")
    log.chmod(0o640)
    assert clean_logs(tmp_path, ["abc-1", "ana"]) == 3
    assert log.read_text().splitlines() == [lines[1], lines[3], "a line that was cut"]
    assert log.stat().st_mode & 0o777 == 0o640
    assert clean_logs(tmp_path, ["abc-1", "ana"]) == clean_logs(tmp_path, []) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["hermes.log"]


def asked(port: int, key: str, text: str) -> str:
    body = {"model": "hermes", "messages": [{"role": "user", "content": text}]}
    heads = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", json.dumps(body).encode(), heads)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


@pytest.mark.long
def test_no_byte_of_a_person_stays_with_all_there_is_switched_on(say, bare, monkeypatch):
    """A person who comes in over HTTP, beside the owner: theirs goes, the owner's stays, and the log is no shorter."""
    for name in ("tool/metrics", "tool/otel"):
        assert say("plugins", "enable", name, "--yes").returncode == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (bare / ".env").write_text(f"API_SERVER_KEY={KEY}\nAPI_SERVER_KEY_HERS={HERS}\n")
    (bare / ".env").chmod(0o600)
    config = (bare / "config.yaml").read_text()
    keys = f"platforms: {{api: {{port: {port}, keys: {{API_SERVER_KEY_HERS: {PERSON}}}}}}}\n"
    (bare / "config.yaml").write_text(config + keys)
    env = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    command = [sys.executable, "-P", "-m", "hermes_core", "api"]
    said = bare.parent / "said"
    with said.open("wb") as out:
        server = subprocess.Popen(command, env=env | {"HERMES_HOME": str(bare)}, stdout=out, stderr=out)
    try:
        until = time.monotonic() + 30
        while "istening" not in said.read_text() and time.monotonic() < until:
            time.sleep(0.1)
        for text in (f"write {CANARY} to hers.txt", "write more to hers.txt", f"remember that {CANARY} is mine"):
            asked(port, HERS, text)
        asked(port, KEY, "hello from the owner")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    owners = [row["id"] for row in map(json.loads, say("sessions", "list", "--json").stdout.splitlines())]
    hers = [one for one in sessions_of(bare) if one not in owners]
    assert len(hers) == 3
    where = holding(bare, CANARY, PERSON)
    assert {"state.db", "snapshot", "people"} <= {re.split(r"[/: ]", one.replace("a snap", "snap"))[0] for one in where}
    done = say("store", "erase", "--person", PERSON, "--yes")
    assert done.returncode == 0, done.stderr
    assert f"The settings still name {PERSON}, in line" in done.stderr
    (bare / "config.yaml").write_text(config)
    say("sessions", "list")
    assert holding(bare, CANARY, PERSON, *hers) == []
    assert set(owners) <= set(sessions_of(bare))
