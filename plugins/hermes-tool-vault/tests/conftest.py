"""A vault in a folder, a program that was bound, and a server that says what it got."""

import os
import stat
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from attrs import evolve

from hermes_core.context import UrlRules
from hermes_core.testing import FakeToolContext, FakeWorkspace, PluginContract, plugin_context
from hermes_core.types import Verdict
from hermes_tool_vault.config import Config
from hermes_tool_vault.fetch import make_fetch
from hermes_tool_vault.items import Binding, Item
from hermes_tool_vault.listing import make_list
from hermes_tool_vault.run import make_run
from hermes_tool_vault.sealed import vault_of

SECRET = "Tr0ub4dor&3-kX9!qZ"
YES = Verdict(outcome="allow", by="person", choice="once")


class Site:
    """Keeps the requests it got; ``answer`` makes of each what is sent back."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.answer = lambda headers, body: (200, {}, b"ok")
        site = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = dict(self.headers)
                site.asked.append((f"{self.command} {self.path}", headers, body))
                status, more, said = site.answer(headers, body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(said)), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(said)

            do_POST = do_PUT = do_DELETE = do_GET

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def site():
    made = Site()
    yield made
    made.close()


@pytest.fixture
def other():
    made = Site()
    yield made
    made.close()


@pytest.fixture
def ctx(tmp_path):
    contract = type("Vault", (PluginContract,), {"module": "hermes_tool_vault"})
    made = plugin_context(contract.read_manifest(), tmp_path / "home", config=Config(key="file"))
    return evolve(made, urls=UrlRules(allow_private=True))


@pytest.fixture
def vault(ctx):
    return vault_of(ctx)


@pytest.fixture
def keep(vault):
    """Put a thing into the vault."""

    def put(name="token", kind="password", bindings=(), **fields):
        fields = fields or {"secret": SECRET, "user": "ann"}
        item = Item(name=name, kind=kind, fields=fields, bindings=tuple(bindings))
        vault.change(lambda things: things.update({name: item}))
        return item

    return put


@pytest.fixture
def program(tmp_path):
    """A program outside of the session's folder; the binding it has."""

    def write(script, name="tool"):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Binding(kind="command", target=name, path=str(path))

    return write


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return FakeWorkspace(folder=folder)


@pytest.fixture
def call(ctx, place):
    """Call a tool of the vault; the person says yes unless told otherwise."""
    tools = {tool.name: tool for tool in (make_list(ctx), make_run(ctx), make_fetch(ctx))}

    async def run(name, *, verdict=YES, context=None, **arguments):
        tool = tools[name]
        context = context or FakeToolContext(place, verdict=verdict)
        run.context = context
        return str(await tool.run(context, tool.params(**arguments)))

    return run


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert os.environ["PYTHON_KEYRING_BACKEND"]
