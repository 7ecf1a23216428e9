"""A person sees the models, and fetches one."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

EVENTS = [
    {"status": "pulling manifest"},
    {"status": "pulling abc", "total": 10, "completed": 4},
    {"status": "pulling abc", "total": 10, "completed": 10},
    {"status": "success"},
]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"models": [{"name": "tiny"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/api/show":
            self.answer({"model_info": {"x.context_length": 4096}, "capabilities": ["completion", "tools"]})
        elif body["model"] == "half":
            self.answer(*EVENTS[:2])
        elif body["model"] == "nobody":
            self.answer({"error": "pull model manifest: file does not exist"})
        else:
            self.answer(*EVENTS)

    def answer(self, *events):
        data = "".join(json.dumps(event) + "\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def run(server, tmp_path):
    def call(*words):
        argv = [sys.executable, "-m", "hermes_core", "ollama", *words]
        environment = {**os.environ, "HERMES_HOME": str(tmp_path / "home"), "OLLAMA_BASE_URL": server}
        return subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


def test_models_are_listed_with_their_room(run):
    assert run("list").stdout.split() == ["model", "room", "can", "tiny", "4096", "tools"]
    assert json.loads(run("list", "--json").stdout) == {"model": "tiny", "room": 4096, "can": ["tools"]}


def test_a_model_is_fetched(run):
    done = run("pull", "qwen3:8b")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "pulling manifest"
    assert "hermes --model ollama:qwen3:8b" in done.stdout


@pytest.mark.parametrize(("model", "said"), [("half", "broke off"), ("nobody", "file does not exist")])
def test_what_could_not_be_fetched_is_said(run, model, said):
    done = run("pull", model)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
