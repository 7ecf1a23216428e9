"""The bytes that leave: the same beginning as long as a session lives, and `prompt-size` knows every one of them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hermes_core import Hermes
from hermes_core.testing.protocol_replies import Said, error_of, events_of, stream_of
from hermes_core.testing.protocol_rules import protocol_of, refusal_of

FINE = Said(pieces=("Fine.",))


class Service(ThreadingHTTPServer):
    """Answers "Fine." on three protocols and keeps every body. ``hang`` makes it stop in the middle of a reply."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.refused: list[str] = []
        self.hang = threading.Event()
        self.go_on = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.0"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send(json.dumps({"data": [{"id": "m1"}, {"id": "m2"}]}).encode(), "application/json")

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        if self.server.hang.is_set():
            self.server.go_on.wait(30)
        protocol = protocol_of(self.path)
        if refusal := refusal_of(protocol, json.loads(self.server.bodies[-1])):
            self.server.refused.append(refusal.message)
            status, body, _ = error_of(protocol, refusal)
            self._send(json.dumps(body).encode(), "application/json", status)
        else:
            self._send(stream_of(protocol, events_of(protocol, FINE)), "text/event-stream")

    def _send(self, data: bytes, kind: str, status: int = 200) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # who asked was killed
            pass


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.go_on.set()
    made.shutdown()
    made.server_close()
    thread.join()
    assert made.refused == []


CONFIGS = {
    "chat": "model: {{provider: custom, default: m1}}\nproviders: {{custom: {{base_url: '{url}/v1', api_key: k}}}}\n",
    "responses": (
        "model: {{provider: custom, default: m1}}\n"
        "providers: {{custom: {{base_url: '{url}/v1', api_key: k, protocol: responses}}}}\n"
    ),
    "messages": (
        "model: {{provider: anthropic, default: m1}}\nproviders: {{anthropic: {{base_url: '{url}', api_key: k}}}}\n"
    ),
}
PATCHED = """
import sys
import hermes_core.agent.prompt as prompt
from datetime import datetime, timedelta
class Later(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + timedelta(days=3)
prompt.datetime = Later
from hermes_core.cli.main import run
run(None, sys.argv[1:])
"""


def said(body: bytes, protocol: str) -> list[bytes]:
    """The messages as they were sent, each as its own bytes, and the tools."""
    data = json.loads(body)
    key = "input" if protocol == "responses" else "messages"
    parts = [json.dumps(m, ensure_ascii=False, separators=(",", ":")).encode() for m in data[key]]
    assert all(part in body for part in parts)  # nothing was lost on the way to these bytes
    first = body[body.index(b'"tools":') :] if protocol != "responses" else json.dumps(data["tools"]).encode()
    system = json.dumps(data.get("system"), ensure_ascii=False, separators=(",", ":")).encode()
    return [first, system, *parts]


def unmarked(pieces: list[bytes]) -> list[bytes]:
    """Without the marks that say how far a cache may reach: they wander to the end on purpose."""
    return [piece.replace(b',"cache_control":{"type":"ephemeral"}', b"") for piece in pieces]


@pytest.mark.long
@pytest.mark.timeout(180)  # five processes, which import what talks to a service
@pytest.mark.parametrize("protocol", CONFIGS)
def test_what_was_sent_once_is_sent_again_to_the_byte_whatever_happens_between(cli, service, protocol) -> None:
    config = CONFIGS[protocol].format(url=service.url)
    cli.configure(config)
    (cli.work / "AGENTS.md").write_text("Use uv.\n")
    assert cli.process("-z", "one", fresh=True, env={**os.environ, "PYTHONHASHSEED": "1"}).out == "Fine.\n"
    cli.configure(f"{config}plugins: {{order: [todo, terminal, recall, files, clarify]}}\n")
    (cli.work / "AGENTS.md").write_text("Use pip.\n")
    (cli.home / "memories").mkdir(exist_ok=True)
    (cli.home / "memories" / "MEMORY.md").write_text("The person likes tea.\n")
    (cli.home / "SOUL.md").write_text("You are somebody else.\n")
    assert cli.process("-c", "-z", "two", fresh=True, env={**os.environ, "PYTHONHASHSEED": "2"}).out == "Fine.\n"
    words = [sys.executable, "-c", PATCHED, "-c", "-z", "three"]
    assert subprocess.run(words, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout == b"Fine.\n"
    model = "m2" if protocol != "messages" else "anthropic:m2"
    assert cli.process("-c", "-m", model, "-z", "four").out == "Fine.\n"
    one, two, three, four = (unmarked(said(body, protocol)) for body in service.bodies)
    assert b"Use uv." in service.bodies[0]
    assert b"somebody else" not in b"".join(service.bodies)
    assert two[: len(one)] == one
    assert three[: len(two)] == two
    assert four[: len(three)] == three
    assert len(four) == len(one) + 6
    assert json.loads(service.bodies[3])["model"] == "m2"
    assert cli.process("-z", "five").out == "Fine.\n"  # a new session knows what is new
    assert b"Use pip." in service.bodies[4]


@pytest.mark.long
def test_the_beginning_of_the_body_itself_is_the_same_bytes(cli, service) -> None:
    cli.configure(CONFIGS["chat"].format(url=service.url))
    cli.process("-z", "one", fresh=True)
    cli.process("-c", "-z", "two", fresh=True)
    one, two = service.bodies
    end = one.index(b'],"stream":true')
    assert end > 500
    assert two[:end] == one[:end]
    assert two[two.index(b'],"stream":true') :] == one[end:]


def test_a_turn_that_was_killed_is_asked_again_in_the_same_bytes(cli, service) -> None:
    cli.configure(CONFIGS["chat"].format(url=service.url))
    service.hang.set()
    process = subprocess.Popen([sys.executable, "-m", "hermes_core", "-z", "one"], stdin=subprocess.DEVNULL)
    while not (service.bodies and stored(cli)):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    service.hang.clear()
    service.go_on.set()
    assert "Fine." in cli.process("resume").out
    assert service.bodies[1] == service.bodies[0]


def stored(cli) -> bool:
    """Whether the message has its row."""
    import sqlite3

    try:
        with sqlite3.connect(f"file:{cli.home}/state.db?mode=ro", uri=True) as db:
            return db.execute("select count(*) from messages").fetchone()[0] > 0
    except sqlite3.Error:
        return False


@pytest.mark.parametrize("protocol", CONFIGS)
@pytest.mark.few(1)
def test_the_parts_add_up_to_the_body_that_leaves(cli, service, protocol) -> None:
    cli.configure(CONFIGS[protocol].format(url=service.url))
    (cli.work / "AGENTS.md").write_text('Say "uv", not \\pip\\.\nÄöü 日本 🙂\n')
    text = 'How "large" is it?\nÜ'
    rows = cli("prompt-size", "--json", "--message", text).rows

    async def talk() -> None:
        async with Hermes(home=cli.home) as hermes:
            await hermes.run(text, origin="cli")

    asyncio.run(talk())
    sizes = {row["part"]: row["bytes"] for row in rows}
    total = sizes.pop("total")
    assert sum(sizes.values()) == total == len(service.bodies[0])
    assert {"prompt/identity", "prompt/project", "tool/terminal", "message", "envelope"} <= set(sizes)
    assert all(size > 0 for size in sizes.values())
    assert sizes["message"] == len(text.encode()) + 3


def test_the_default_prompt_stays_small(cli, service) -> None:
    cli.configure(CONFIGS["chat"].format(url=service.url))
    (row,) = (r for r in cli("prompt-size", "--json").rows if r["part"] == "total")
    assert row["bytes"] < 9_450  # 2,360 tokens, with skills, pages, schedules and tools of its own
    assert row["tokens"] == row["bytes"] // 4
