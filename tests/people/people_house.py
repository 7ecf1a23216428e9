"""One Hermes for several people: a gateway that is a real process, its services, and its API."""

import http.client
import json
import shutil
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "word"))

from people_model import Obedient, Obeying
from people_telegram import TOKEN, Phones, number_of
from word_home import Home, Process, Server

__all__ = ["CROWD", "KEYS", "MATRIX", "PATIENCE", "PEOPLE", "House", "house", "secrets", "settings", "until"]

PATIENCE = 20.0  # seconds; only what is broken takes so long
PEOPLE = ("oli", "ann", "ben", "cat")  # oli is the owner; eve is a stranger
CROWD = ("ann", "ben", "dan", "eli", "fay", "gus", "hal", "ida")
MATRIX = "matrix:"  # in what is set up beside: people are on Matrix, too
KEYS = {name: f"key-of-{name}-0123456789abcdef" for name in {*PEOPLE, *CROWD}}
_CONFIG = """
model: {{provider: custom, base_url: "{url}", api_key: x, default: word}}
terminal: {{cwd: "WORK"}}
policy: {{ask_seconds: 3600}}
backends: {{local: {{wall: none}}}}
backup: {{every: 0}}
gateway:
  people: {{{people}}}
  {more}
  edit_seconds: 0.05
  retry_seconds: 0.2
  retry_cap: 1
  drain_seconds: 1
  reactions: false
  tool_progress: "off"
platforms:
  telegram: {{base_url: '{telegram}', seconds: 5, album_seconds: 0.1, poll_seconds: 5, menu: 100}}
  {matrix}
  api: {{enabled: true, port: {port}, client_tool_seconds: 86400, keys: {{{keys}}}}}
"""


class House:
    """What runs, and the people's ways to it. ``is_idle`` says whether nothing goes on, where that can be told."""

    is_idle: Callable[[], bool] | None = None
    held = 0  # turns that wait for a client of the API

    def __init__(self, home: Home, model: Obeying, phones: Phones, port: int, process: Process) -> None:
        self.home, self.model, self.phones, self.port, self.process = home, model, phones, port, process

    def unsent(self, who: str) -> bool:
        """Whether something that was said to somebody is on its way still, as the store has it."""
        query = "SELECT 1 FROM platform_gateway__outbox WHERE state IN ('waiting', 'sending') AND person = ? LIMIT 1"
        with closing(sqlite3.connect(f"file:{self.home.home / 'state.db'}?mode=ro", uri=True)) as store:
            return store.execute(query, (who,)).fetchone() is not None

    def ask(self, who: str, method: str, path: str, body: Any = None, key: str = "", **headers: str) -> tuple[int, str]:
        """Ask the API as somebody; the status and what it says."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        head = {"authorization": f"Bearer {key or KEYS[who]}", "content-type": "application/json", **headers}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, head)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def until(true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Wait until something is so; what it is."""
    began, pause = time.monotonic(), 0.001
    while not (found := true()):
        assert time.monotonic() < began + seconds, what
        time.sleep(pause)
        pause = min(0.01, 1.2 * pause)
    return found


@contextmanager
def house(folder: Path, server: Server, more: str = "", *, gullible: bool = False) -> Iterator[House]:
    """Serve until the block ends. The folder is made anew: what is served in it is called the same each time."""
    shutil.rmtree(folder, ignore_errors=True)
    port = _free()
    with Obedient(gullible=gullible) as model, Phones() as phones:
        config, keys = settings(model.url, phones.url, port, more), secrets()
        home = Home(folder, server, config, extra=keys)
        process = home.start("gateway", "run")
        made = House(home, model, phones, port, process)
        try:
            until(lambda: process.wait(0) is not None or _serves(made), "the gateway does not serve")
            yield made
            process.kill(signal.SIGTERM)
            assert process.wait() == 0, process.err
            assert "Traceback" not in process.err, process.err
            assert not model.refused, model.refused
        finally:
            home.end_all()


def settings(model: str, telegram: str, port: int, more: str, people: tuple[str, ...] = PEOPLE) -> str:
    """What the owner set up: whose is what, and where the services are."""
    names = {name: "owner" if name == "oli" else name for name in people}
    matrix = (lambda name: f", 'matrix:@{name}:street'") if MATRIX in more else (lambda name: "")
    return _CONFIG.format(
        url=model,
        people=", ".join(f"{person}: ['telegram:{number_of(name)}'{matrix(name)}]" for name, person in names.items()),
        more=more.replace(MATRIX, ""),
        matrix=f"{MATRIX} {{homeserver: 'http://127.0.0.1:9', encryption: false, sync_seconds: 5}}"
        if MATRIX in more
        else "",
        telegram=telegram,
        port=port,
        keys=", ".join(f"API_SERVER_KEY_{name.upper()}: {name}" for name in people[1:]),
    )


def secrets() -> dict[str, str]:
    """The bot's token and the keys of the API."""
    keys = {"API_SERVER_KEY" + ("" if name == "oli" else f"_{name.upper()}"): key for name, key in KEYS.items()}
    return {"TELEGRAM_BOT_TOKEN": TOKEN, **keys}


def _serves(made: House) -> bool:
    assert made.process.wait(0) is None, made.process.err
    try:
        return made.ask("oli", "GET", "/health")[0] == 200 and bool(made.phones.menu())
    except OSError:
        return False


def _free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
