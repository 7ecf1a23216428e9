"""The catalogue: pinned, sound, and added as any other server."""

import json
import re

import pytest

from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_tool_mcp.catalog import entries
from hermes_tool_mcp.config import Config, ServerSettings

from .conftest import ODD, odd
from .test_real import MODULES

PINNED = re.compile(r"@[a-z0-9-]+/[a-z0-9-]+@\d[\w.]*|[a-z0-9-]+==\d[\w.]*")


@pytest.fixture
def mcp(hermes):
    hermes.tmp_plugin("hermes_tool_mcp")
    return hermes


@pytest.mark.parametrize("one", entries().values(), ids=entries())
def test_each_is_sound_and_what_is_fetched_is_pinned(one):
    server = ServerSettings(**one.row)
    Config(servers={one.name: server})
    assert one.summary.endswith(".")
    assert one.homepage.startswith("https://")
    if server.command:
        assert server.command in ("npx", "uvx")
        assert server.wall
        assert PINNED.fullmatch(server.args[-1]), server.args
    else:
        assert server.url.startswith("https://")
    assert not server.allow
    assert not server.sampling


async def test_they_are_shown_and_nothing_is_started(mcp):
    told = await mcp.command("mcp catalog")
    assert all(name in told for name in entries())
    assert "wants a login" in next(line for line in told.splitlines() if line.startswith("linear"))
    rows = json.loads(await mcp.command("mcp catalog", "--json"))
    assert [row["name"] for row in rows] == list(entries())
    one = await mcp.command("mcp catalog", "memory")
    assert "npx -y @modelcontextprotocol/server-memory@" in one
    assert "--add" in one
    with pytest.raises(UnknownName, match="memory"):
        await mcp.command("mcp catalog", "memori")
    with pytest.raises(UserError):
        await mcp.command("mcp catalog", "--add")


async def test_one_is_added_as_it_is_shown(mcp, monkeypatch):
    row = {key: value for key, value in odd().items() if key in ("command", "args", "wall")}
    found = entries()
    monkeypatch.setattr(
        "hermes_tool_mcp.catalog.entries",
        lambda: {"memory": type(found["memory"])(name="memory", summary="x.", homepage="https://x.example", row=row)},
    )
    told = await mcp.command("mcp catalog", "memory", "--add", "--as", "facts")
    assert "Added facts" in told
    assert str(ODD) in (mcp._home / "config.yaml").read_text()


async def test_a_name_is_given_once(mcp):
    mcp.configure({"mcp.servers": {"memory": odd()}})
    with pytest.raises(UserError, match="memory already"):
        await mcp.command("mcp catalog", "memory", "--add")


async def test_one_that_does_not_answer_is_not_added(mcp, monkeypatch):
    row = {"command": "/bin/false", "wall": False}
    found = entries()
    monkeypatch.setattr(
        "hermes_tool_mcp.catalog.entries",
        lambda: {"memory": type(found["memory"])(name="memory", summary="x.", homepage="https://x.example", row=row)},
    )
    with pytest.raises(HermesError, match="memory is not there"):
        await mcp.command("mcp catalog", "memory", "--add")
    assert "no MCP server" in await mcp.command("mcp list")


@pytest.mark.real
def test_the_pin_of_the_memory_server_is_what_is_tried_here():
    if not MODULES.is_dir():
        pytest.skip(f"{MODULES} is not there: see .ci/run")
    there = json.loads((MODULES / "@modelcontextprotocol" / "server-memory" / "package.json").read_text())["version"]
    assert entries()["memory"].row["args"][-1].endswith(f"@{there}")
