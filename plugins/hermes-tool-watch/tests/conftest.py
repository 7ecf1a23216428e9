"""A kernel in which things are watched, and a server whose pages change."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hermes_core.testing import Bench
from hermes_tool_watch.values import Change, Watch
from hermes_tool_watch.watching import Watching, rows_of


class Pages(ThreadingHTTPServer):
    """A server on this machine that gives one page."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.page, self.kind, self.status = "", "text/html", 200

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Answer(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        self.send_response(self.server.status)
        self.send_header("content-type", self.server.kind)
        self.end_headers()
        self.wfile.write(self.server.page.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def pages() -> Iterator[Pages]:
    """A server whose page changes."""
    with Pages() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class House:
    """What is watched in a kernel, and what came of it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        runtime = bench.runtime
        runtime.loader.load_contributing("services")
        found = [one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Watching)]
        self.service = found[0]
        self.ctx, self.rows = self.service.ctx, rows_of(self.service.ctx)

    async def watch(self, name: str = "it", **given: Any) -> Watch:
        """Watch something, whose first look is done."""
        wanted = Watch(name=name, **{"prompt": "Say what is new.", "every": 0.0, "settle": 0.0, **given})
        await self.rows.put(wanted)
        await self.service.round()
        found = await self.rows.watch(name)
        assert found
        return found

    async def changes(self) -> list[Change]:
        """What changed, oldest first, after one more look."""
        await self.service.round()
        return list(reversed(await self.rows.log()))

    async def said(self, change: Change) -> str:
        """What the turn of a change is asked."""
        past = await self.ctx.turns.past(change.event)
        assert past
        assert past.message.untrusted
        assert past.message.parts[0].text == "Say what is new."
        return str(past.message.parts[1].text)


@pytest.fixture
def wall() -> str:
    """Which wall commands run behind."""
    return "auto"


@pytest.fixture
async def house(hermes: Bench, wall: str) -> House:
    """A kernel in which nothing is watched yet."""
    hermes.tmp_plugin("hermes_tool_watch")
    hermes.tmp_plugin("hermes_provider_offline")
    hermes.tmp_plugin("hermes_backend_local")
    hermes.configure(
        {"terminal.backend": "local", "terminal.cwd": str(hermes.workspace.cwd), "backends.local.wall": wall}
    )
    return House(hermes)
