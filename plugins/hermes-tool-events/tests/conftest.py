"""Services that are told: a webhook that verifies what it gets, a topic of ntfy, and a server that takes mails."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from hermes_core.testing import Bench
from hermes_tool_events.telling import Telling

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"


class Listener(ThreadingHTTPServer):
    """A server on this machine: answers with ``status``, and keeps what it is told while that is 200."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.status, self.heard, self.tries = 200, [], 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Answer(BaseHTTPRequestHandler):
    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.tries += 1
        if self.server.status == 200:
            self.server.heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


class Mailbox:
    """A mail server, and what came."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.server = Controller(self, hostname="127.0.0.1", port=0)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.mails.append(envelope)
        return "250 OK"


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A server that listens."""
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """A server that takes mails."""
    import socket

    made = Mailbox()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        made.server.port = probe.getsockname()[1]
    made.server.start()
    yield made
    made.server.stop()


class House:
    """A kernel with a scripted model, whose turns are told of."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @property
    def service(self) -> Telling:
        """What tells them, in this kernel."""
        runtime = self.bench.runtime
        runtime.loader.load_contributing("services")
        (found,) = (one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Telling))
        return found

    @property
    def rows(self) -> Any:
        """What is written down."""
        from hermes_tool_events.hearing import rows_of

        return rows_of(self.service.ctx)

    async def say(self, text: str, session: str = "s", origin: str = "telegram") -> None:
        """A turn from its start to its end."""
        async for _ in self.bench.turn(text, session=session, origin=origin):
            pass


@pytest.fixture
async def house(hermes: Bench, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """``house(provider, targets, **settings)``."""
    monkeypatch.setenv("EVENTS_SECRET_OPS", SECRET)
    monkeypatch.setenv("EVENTS_TOKEN", "tk_1234567890")

    def make(provider: Any, targets: Any, *, serves: bool = True, beside: Any = (), **settings: Any) -> House:
        hermes.tmp_plugin("hermes_tool_events")
        hermes.tmp_plugin(provider)
        for one in beside:
            hermes.tmp_plugin(one)
        given = {f"tools.events.{name}": value for name, value in settings.items()}
        hermes.configure({"tools.events.targets": targets, **given})
        made = House(hermes)
        if serves:
            made.service.ctx.state["serves"] = True
        return made

    yield make
    await asyncio.sleep(0)
