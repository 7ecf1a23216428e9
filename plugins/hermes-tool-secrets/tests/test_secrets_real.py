"""Debian's ``pass`` with GnuPG: an open store, a locked one, and a whole turn with a key out of it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_core.testing.model_service import http, model_service

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not (shutil.which("pass") and shutil.which("gpg")), reason="pass or gpg is not installed"),
]
KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"


def made(folder: Path, passphrase: str) -> dict[str, str]:
    """A store with one entry, and the variables that lead to it."""
    home, store = folder / "gpg", folder / "store"
    home.mkdir(mode=0o700)
    around = {"GNUPGHOME": str(home), "PASSWORD_STORE_DIR": str(store)}
    env = {**os.environ, **around}
    words = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", passphrase]
    key = ["--quick-generate-key", "me <me@example.org>", "default", "default", "never"]
    subprocess.run(["gpg", *words, *key], env=env, check=True, capture_output=True)
    subprocess.run(["pass", "init", "me@example.org"], env=env, check=True, capture_output=True)
    entry = ["pass", "insert", "--multiline", "hermes/openai"]
    subprocess.run(entry, env=env, check=True, capture_output=True, input=f"{KEY}\nuser: me\n".encode())
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=env, check=True, capture_output=True)
    return around


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: that of the agent's socket has a bound."""
    made = Path(subprocess.check_output(["mktemp", "-d", "/tmp/ps-XXXXXX"], text=True).strip())
    yield made
    subprocess.run(["gpgconf", "--homedir", str(made / "gpg"), "--kill", "all"], check=False, capture_output=True)
    shutil.rmtree(made)


def test_an_open_store_gives_what_is_there(folder, sources, monkeypatch):
    for name, value in made(folder, "").items():
        monkeypatch.setenv(name, value)
    source = sources()["pass"]
    assert source.read("hermes/openai", 30) == KEY
    for reference, told in (
        ("hermes", "That is a folder."),
        ("hermes/nothing", "It has nothing there."),
        ("../gpg/x", "pass ended with status 1."),
    ):
        with pytest.raises(UserError) as caught:
            source.read(reference, 30)
        assert caught.value.text == told


def test_a_locked_store_says_how_to_unlock_it(folder, sources, monkeypatch):
    for name, value in made(folder, "a passphrase that nobody types").items():
        monkeypatch.setenv(name, value)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError) as caught:
        sources()["pass"].read("hermes/openai", 30)
    assert caught.value.text == "It is locked, or its key is not here."
    assert caught.value.hint == "Unlock it in a terminal: pass show hermes/openai"


def test_no_store_at_all_says_so(folder, sources, monkeypatch):
    monkeypatch.setenv("PASSWORD_STORE_DIR", str(folder / "none"))
    with pytest.raises(UserError, match="It has nothing there"):
        sources()["pass"].read("hermes/openai", 30)


def reply(delta: dict[str, object], reason: str) -> bytes:
    """A streamed reply of one piece."""
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    pieces = [{**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}]}]
    lines = [f"data: {json.dumps(one)}\n\n" for one in pieces]
    return http(200, "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")


async def test_a_turn_is_answered_with_a_key_of_the_store(folder, tmp_path):
    around = made(folder, "")
    home = tmp_path / "home"
    home.mkdir()
    call = {"name": "terminal", "arguments": json.dumps({"command": "env; cat /proc/$PPID/environ"})}
    async with model_service("/v1") as service:
        service.script = [
            reply({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": call}]}, "tool_calls"),
            reply({"content": f"It said {KEY}."}, "stop"),
        ]
        settings = {
            "secrets": {"env": {"ACME_API_KEY": "pass:hermes/openai"}},
            "model": {"provider": "acme", "default": "small"},
            "providers": {"acme": {"base_url": service.url, "api_key": "env:ACME_API_KEY", "protocol": "chat"}},
        }
        (home / "config.yaml").write_text(json.dumps(settings))
        env = {**os.environ, **around, "HERMES_HOME": str(home), "HOME": str(tmp_path), "HERMES_YOLO": "1"}
        words = [sys.executable, "-m", "hermes_core", "-z", "look at the environment"]
        done = await asyncio.to_thread(subprocess.run, words, env=env, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [one.headers["authorization"] for one in service.asked] == [f"Bearer {KEY}"] * 2
    (result,) = [one for one in service.asked[1].body["messages"] if one["role"] == "tool"]
    assert "PATH=" in result["content"], "the command ran"
    assert KEY not in json.dumps(result), "and saw no secret"
    assert KEY not in done.stderr
    logs = [path for path in home.rglob("*") if path.is_file() and path.suffix in (".log", ".jsonl", ".json")]
    assert [path for path in logs if KEY.encode() in path.read_bytes()] == []
