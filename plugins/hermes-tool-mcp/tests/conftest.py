"""A kernel with odd servers, and what is left of them afterwards."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, plugin_context
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.testing.project import manifest_path
from hermes_core.types import Principal
from hermes_tool_mcp.config import Config, ServerSettings
from hermes_tool_mcp.pool import Pool, pool_of

ODD = Path(__file__).with_name("odd_server.py")
MARK = "HERMES_TEST_SERVER"


def odd(*words, mark="", wall=False, **more):
    """The settings of an odd server."""
    row = {"command": sys.executable, "args": [str(ODD), *map(str, words)], "wall": wall, "timeout": 30.0}
    return {**row, "connect_timeout": 30.0, "env": {MARK: mark} if mark else {}, **more}


def running(mark):
    """The processes that a test started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


async def until(what, seconds=20.0):
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not come"
        await asyncio.sleep(0.02)


class Servers:
    """The plugin without a kernel: connections, and contexts to call with."""

    def __init__(self, home, rows, replies=(), secrets=None):
        self.rows = {name: ServerSettings(**row) for name, row in rows.items()}
        manifest = read_manifest(manifest_path("hermes_tool_mcp"))
        self.ctx = plugin_context(
            manifest, home, config=Config(servers=self.rows), replies=replies, secrets=secrets or {}
        )
        self.pool: Pool = pool_of(self.ctx)
        self.folder = home / "work"
        self.folder.mkdir(parents=True, exist_ok=True)

    def connection(self, name="odd", holder="test"):
        return self.pool.hold(holder, name, self.rows[name], Principal(), str(self.folder))

    def context(self, answers=()):
        return Answering(self.folder, answers)

    async def close(self):
        await self.pool.release("test")


class Answering(FakeToolContext):
    """Somebody who gives answers in turn, and is gone then."""

    def __init__(self, folder, answers):
        super().__init__(FakeWorkspace(folder=folder))
        self.answers_left, self.asked = list(answers), []

    async def ask(self, question):
        from hermes_core.types import Verdict

        self.asked.append(question)
        if not self.answers_left:
            return Verdict(outcome="deny")
        return Verdict(outcome="allow", choice=self.answers_left.pop(0), by="ada")


@pytest.fixture
async def servers(tmp_path):
    made = []

    def make(replies=(), secrets=None, **rows):
        made.append(Servers(tmp_path / "home", rows, replies, secrets))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture(scope="session")
def far():
    """The address of a server that runs elsewhere, by the way it is spoken to."""
    running_now = {}

    def at(way):
        if way not in running_now:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            words = [sys.executable, str(Path(__file__).with_name("http_server.py")), str(port), way]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            running_now[way] = (process, port)
            ends = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert time.monotonic() < ends, "it did not come up"
                    time.sleep(0.05)
        return f"http://127.0.0.1:{running_now[way][1]}/{'mcp' if way == 'http' else 'sse'}"

    yield at
    for process, _ in running_now.values():
        process.kill()
        process.wait()
