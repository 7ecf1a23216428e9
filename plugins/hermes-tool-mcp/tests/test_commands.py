"""``hermes mcp``: added once it answered, listed without being started, taken away with all it kept."""

import json

import pytest

from hermes_core.errors import HermesError, UserError

from .conftest import ODD


@pytest.fixture
def mcp(hermes):
    hermes.tmp_plugin("hermes_tool_mcp")
    return hermes


def words(*more):
    import sys

    return ["add", "odd", "--", sys.executable, str(ODD), *more]


async def test_what_does_not_answer_is_not_added(mcp):
    with pytest.raises(HermesError, match="odd is not there"):
        await mcp.command("mcp add", "odd", "--", "/bin/false")
    assert "no MCP server" in await mcp.command("mcp list")


async def test_a_name_or_a_value_that_cannot_be_is_refused_at_once(mcp):
    with pytest.raises(UserError, match="no name for a server"):
        await mcp.command("mcp add", "a__b", "https://a.example", "--no-test")
    with pytest.raises(UserError, match="NAME=VALUE"):
        await mcp.command("mcp add", "a", "https://a.example", "--header", "x", "--no-test")


async def test_an_address_is_written_down_untested_where_that_is_said(mcp):
    with pytest.raises(HermesError, match="MCP_X"):
        await mcp.command("mcp add", "far", "https://a.example/mcp", "--header", "X=${MCP_X}", "--no-test")
    mcp.context("hermes_tool_mcp").secrets.set("MCP_X", "abcdefgh")
    assert "Added far" in await mcp.command(
        "mcp add", "far", "https://a.example/mcp", "--header", "X=${MCP_X}", "--no-test"
    )
    written = (mcp._home / "config.yaml").read_text()
    assert "https://a.example/mcp" in written
    assert "${MCP_X}" in written


async def test_an_added_server_is_listed_tested_and_removed(mcp, far):
    mcp.configure({"mcp.servers": {"far": {"url": far("http")}}})
    assert json.loads(await mcp.command("mcp list", "--json"))[0]["state"] == "not asked yet"
    with pytest.raises(UserError, match="Nobody has asked far"):
        await mcp.command("mcp tools", "far")
    assert "far 0" not in await mcp.command("mcp test", "far")
    assert json.loads(await mcp.command("mcp list", "--json"))[0]["state"] == "2 tools"
    told = await mcp.command("mcp tools", "far")
    assert "* mcp__far__echo" in told
    assert "  mcp__far__change" in told


async def test_the_servers_of_a_folder_are_only_shown_until_a_person_says_yes(mcp, tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    row = {"command": "npx", "args": ["-y", "x", "\x1b[2Khidden"], "env": {"API_KEY": "abcdefgh"}}
    (tmp_path / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": row}}))
    told = await mcp.command("mcp import", "--list")
    assert "npx -y x" in told
    assert "\x1b" not in told
    assert not (mcp._home / "config.yaml").exists()
    assert "Added theirs" in await mcp.command("mcp import", "--all")
    written = (mcp._home / "config.yaml").read_text()
    assert "${MCP_THEIRS_API_KEY}" in written
    assert "abcdefgh" not in written
    assert await mcp.context("hermes_tool_mcp").settings.has_secret("MCP_THEIRS_API_KEY")


async def test_a_login_of_what_is_started_here_is_none(mcp):
    mcp.configure({"mcp.servers": {"odd": {"command": "x"}}})
    with pytest.raises(UserError, match="has no login"):
        await mcp.command("mcp login", "odd")
    with pytest.raises(UserError, match="nothere"):
        await mcp.command("mcp test", "nothere")
