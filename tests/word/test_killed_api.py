"""``hermes api`` killed at any moment under its clients: runs go on by themselves, a repeated request is done once.

The long run: ``pytest -m long -o faulthandler_timeout=0 tests/word/test_killed_api.py --kills 300 -s``.
"""

import http.client
import json
import random
import re
import threading
import time
from collections import Counter
from typing import Any

import pytest
from word_home import PATIENCE, Home, moment
from word_judge import judge
from word_model import Model, answer, job

pytestmark = pytest.mark.long

KEY = "a-key-of-the-owner-0123456789"
CONFIG = """
model: {{provider: custom, base_url: "{url}", api_key: x, default: word}}
policy: {{mode: "off"}}
terminal: {{cwd: "WORK"}}
backends: {{local: {{wall: {wall}}}}}
"""
ROUNDS = 8  # lives of a server in one home


class Api:
    """A server in a home, and what its clients ask."""

    def __init__(self, home: Home) -> None:
        self.home, self.port = home, 0
        self.start()

    def start(self) -> None:
        self.process = self.home.start("api", "--port", "0")
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(r"listens on http://127.0.0.1:(\d+)", self.process.out + self.process.err)):
            assert self.process.wait(0.01) is None, self.process.err
            assert time.monotonic() < deadline
        self.port = int(found[1])

    def ask(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, Any]:
        """Status and body of an answer; a connection that breaks raises an ``OSError``."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        if key:
            headers["idempotency-key"] = key
        try:
            line.request(method, path, json.dumps(body) if body is not None else None, headers)
            answered = line.getresponse()
            data = answered.read()
        except http.client.HTTPException as error:
            raise ConnectionError(repr(error)) from error
        finally:
            line.close()
        return answered.status, json.loads(data) if data[:1] in b"{[" else data.decode()


class Client(threading.Thread):
    """Asks one thing; when the line breaks it asks again, once the server is back, where that is safe."""

    def __init__(self, api: Api, name: str, kind: str, text: str, session: str, up: threading.Event) -> None:
        super().__init__(daemon=True)
        self.name_of_job, self.kind, self.session, self.answers = name, kind, session, list[str]()
        self.promised, self.failure = False, ""
        self._api, self._text, self._up = api, text, up

    def run(self) -> None:
        try:
            getattr(self, f"_{self.kind}")()
        except Exception as error:
            self.failure = repr(error)

    def _again(self, *asked: Any, key: str = "") -> tuple[int, Any]:
        """Ask until there is an answer, as a client with a key may."""
        while True:
            assert self._up.wait(PATIENCE)
            try:
                return self._api.ask(*asked, key=key)
            except OSError:
                time.sleep(0.02)

    def _keyed_run(self) -> None:
        status, told = self._again("POST", "/v1/runs", {"input": self._text}, key=f"k{self.name_of_job}")
        assert status in (200, 202), (status, told)
        self.promised = True
        self._over(told["run_id"])

    def _run(self) -> None:
        try:
            status, told = self._api.ask("POST", "/v1/runs", {"input": self._text})
        except OSError:
            return
        assert status in (200, 202), (status, told)
        self.promised = True
        self._over(told["run_id"])

    def _over(self, run: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status, told = self._again("GET", f"/v1/runs/{run}")
            assert status == 200, (status, told)
            if told["status"] == "waiting_for_approval":  # a command was cut: what it gave is text from outside
                self._again("POST", f"/v1/runs/{run}/approval", {"choice": "once"})
            elif told["status"] not in ("queued", "running"):
                assert told["status"] == "completed", told
                self.answers.append(told["output"])
                return
            time.sleep(0.05)
        raise AssertionError(f"run {run} does not end")

    def _completion(self, *, stream: bool = False) -> None:
        body = {"model": "hermes", "stream": stream, "messages": [{"role": "user", "content": self._text}]}
        status, told = self._again("POST", "/v1/chat/completions", body, key=f"k{self.name_of_job}")
        while stream and status == 200 and "data: [DONE]" not in told:  # the line broke in the middle
            status, told = self._again("POST", "/v1/chat/completions", body, key=f"k{self.name_of_job}")
        assert status == 200, (status, told)
        self.promised = True
        if stream:
            pieces = [json.loads(line[6:]) for line in told.splitlines() if line.startswith("data: {")]
            deltas = [choice["delta"] for piece in pieces for choice in piece.get("choices") or ()]
            self.answers.append("".join(delta.get("content") or "" for delta in deltas))
        else:
            self.answers.append(told["choices"][0]["message"]["content"])

    def _streamed(self) -> None:
        self._completion(stream=True)

    def _chat(self) -> None:
        try:
            status, told = self._api.ask("POST", f"/api/sessions/{self.session}/chat", {"input": self._text})
        except OSError:
            return
        assert status == 200, (status, told)
        self.promised = True


KINDS = ("run", "keyed_run", "completion", "streamed", "chat")


def one_round(api: Api, number: str, dice: random.Random, tally: Counter[str]) -> list[Client]:
    """Ask everything at once, kill the server, start it, perhaps kill it again, and wait for the answers."""
    status, session = api.ask("POST", "/api/sessions", {})
    assert status in (200, 201), session
    up, clients = threading.Event(), list[Client]()
    up.set()
    for kind in KINDS:
        name = f"{number}{kind}"
        text = job(name, dice.randint(1, 2), dice.choice((0.05, 0.2, 0.4)))
        clients.append(Client(api, name, kind, text, session["id"], up))
    for client in clients:
        client.start()
    for _ in range(2 if dice.random() < 0.3 else 1):
        time.sleep(moment(dice, 1.5))
        up.clear()
        api.process.kill()
        api.process.wait()
        tally["kills"] += 1
        api.start()
        up.set()
    for client in clients:
        client.join(PATIENCE)
        assert not client.is_alive(), client.kind
        assert not client.failure, (client.kind, client.failure)
    return clients


def all_idle(api: Api) -> None:
    """Wait until what was cut has gone on by itself."""
    deadline = time.monotonic() + PATIENCE
    words = ("sessions", "list", "--json", "--all", "-n", "1000")
    while busy := [row for row in api.home.lines(*words) if row["state"] != "idle"]:
        assert time.monotonic() < deadline, busy
        time.sleep(0.1)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("wall", ["none", "landlock"])
def test_a_server_that_is_killed_at_any_moment(tmp_path, server, kills, wall):
    dice, tally, number, most = random.Random(f"api {wall}"), Counter[str](), 0, -(-kills // 2)
    while tally["kills"] < most:
        number += 1
        with Model(slow=0.05, seed=number) as model:
            config = CONFIG.format(url=model.url, wall=wall)
            home = Home(tmp_path / str(number), server, config, extra={"API_SERVER_KEY": KEY})
            try:
                api, clients = Api(home), list[Client]()
                for at in range(ROUNDS):
                    clients += one_round(api, f"{number}x{at}", dice, tally)
                    if tally["kills"] >= most:
                        break
                all_idle(api)
                api.process.kill(15)
                assert api.process.wait() == 0, api.process.err
                assert "Traceback" not in "".join(p.err for p in home.processes)
                kept = {client.name_of_job for client in clients if client.promised}
                judge(home, model, [c.name_of_job for c in clients], kept, tally, again=wall != "none")
                for client in clients:
                    assert client.answers in ([], [answer(client.name_of_job)]), (client.kind, client.answers)
                    tally[f"answers by {client.kind}"] += len(client.answers)
            finally:
                home.end_all()
    print(f"\napi, wall {wall}: {dict(tally)}")
