"""A client that we did not write: the Inspector's command line, on pipes and over HTTP."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .test_http import ALICE, KEY, PATH, address
from .test_suite import NODE, THERE

__all__ = ["address"]

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
INSPECTOR = THERE / "node_modules" / "@modelcontextprotocol" / "inspector"
LAUNCHER = INSPECTOR / "clients" / "launcher" / "build" / "index.js"
HOST = str(Path(__file__).with_name("pipes_host.py"))


@pytest.fixture
def inspect(tmp_path):
    """What the Inspector says of a server, or how it fails."""
    if not LAUNCHER.exists():
        pytest.skip(f"{LAUNCHER} is not there: see .ci/run")

    async def run(*words):
        env = {**os.environ, "HOME": str(tmp_path / "inspector"), "PATH": f"{Path(NODE).parent}:{os.environ['PATH']}"}
        process = await asyncio.create_subprocess_exec(
            NODE, str(LAUNCHER), "--cli", *words, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        said, errors = await process.communicate()
        return json.loads(said) if process.returncode == 0 else f"{said.decode()}{errors.decode()}"

    return run


async def test_it_lists_and_calls_on_pipes(inspect, tmp_path):
    home = str(tmp_path / "home")
    server = ("-e", f"HERMES_HOME={home}", sys.executable, HOST, home)
    assert len((await inspect(*server, "--method", "tools/list"))["tools"]) == 9
    call = ("--method", "tools/call", "--tool-name", "conversations_list", "--tool-arg", "limit=2")
    assert (await inspect(*server, *call))["structuredContent"] == {"conversations": []}


async def test_it_lists_and_calls_over_http_as_whose_key_it_has(inspect, address):
    def asked(key):
        call = ("--method", "tools/call", "--tool-name", "conversations_list")
        return inspect(f"{address}{PATH}", "--transport", "http", "--header", f"Authorization: Bearer {key}", *call)

    [mine] = (await asked(KEY))["structuredContent"]["conversations"]
    assert mine["session_key"] == "owners"
    assert (await asked(ALICE))["structuredContent"]["conversations"] == []
    assert "auth_required" in await asked("wrong-key-0123456789")
