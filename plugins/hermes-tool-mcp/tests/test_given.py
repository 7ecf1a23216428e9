"""Servers that a conversation was given by whoever opened it: its own, and none that takes a name of the settings."""

import json
import os
import sys

import pytest

from hermes_core.errors import UserError
from hermes_core.types import Principal, Session
from hermes_tool_mcp.beginning import asked_for_the_first_time, let_go, met
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import Given, give, kept_as, read, sweep, without_secrets
from hermes_tool_mcp.known import lists_of
from hermes_tool_mcp.lists import Listed, ListedTool, Lists, mark_of
from hermes_tool_mcp.own_servers import own_servers
from hermes_tool_mcp.place import _named

from .conftest import ODD, odd, until
from .test_turns import WORDS, kept, kit, names, turn


async def test_what_a_conversation_was_given_is_its_own_and_the_names_of_the_settings_stay_theirs(hermes, scripted):
    row = {key: one for key, one in odd().items() if key in ("command", "args")}
    provider = kit(hermes, scripted, {"odd": odd(), "off": odd(enabled=False)}, "one", "two", "three")
    kept(hermes, "odd", odd(), 1)
    one = read(json.dumps({"own": row}))["own"]
    tools = (ListedTool(name="echo", schema=WORDS, looks=True),)
    Lists(hermes._home / "data" / "tool-mcp").put(kept_as("own", one), Listed(mark=mark_of(one), tools=tools, at=1.0))
    await turn(hermes)
    session = await (await hermes.runtime.store()).sessions.get("s", hermes.runtime.owner)
    told = await hermes.slash("/mcp " + json.dumps({"mcpServers": {"own": row, "odd": row, "off": row}}), session)
    assert "own: 1 tools, of this conversation alone" in told
    assert "As your settings say, and not as given here: odd, off" in told
    await turn(hermes)
    await turn(hermes, session="other")
    given = [[name for name in names(request) if name.startswith("mcp__")] for request in provider.requests]
    assert given == [["mcp__odd__tool_0"], ["mcp__odd__tool_0", "mcp__own__echo"], ["mcp__odd__tool_0"]]
    assert "own" not in await hermes.slash("/mcp {}", session)


def test_what_is_no_server_is_refused_without_a_word_of_its_values():
    for wrong in (
        "{", "[]", '{"x": 7}', '{"x": {}}', '{"x": {"command": "a", "url": "http://h"}}', '{"x": {"url": "sk-4711"}}',
        '{"x": {"command": "a", "args": "sk-4711"}}', '{"x": {"command": "a", "env": {"K": ["sk-4711"]}}}',
        '{"x": {"command": "a", "type": "http"}}', '{"x": {"url": "http://h", "type": "acp"}}',
        '{"...": {"command": "a"}}',
        '{"a b": {"command": "a"}, "a-b": {"command": "a"}}', '{"x": {"command": "a\\u0000b"}}',
        json.dumps({f"s{n}": {"command": "a"} for n in range(33)}),
    ):  # fmt: skip
        with pytest.raises(UserError) as caught:
            read(wrong)
        assert "4711" not in str(caught.value) + caught.value.hint, wrong


def test_two_conversations_that_mean_different_servers_by_one_name_share_nothing():
    one, other = (read(json.dumps({"x": {"command": command}}))["x"] for command in ("a", "b"))
    assert kept_as("x", one) != kept_as("x", other) != "x"
    assert kept_as("x", ServerSettings(command="a")) == "x"


def test_a_value_that_was_given_is_taken_out_of_what_is_said():
    server = Given(command="a", env={"KEY": "four-seven-eleven", "N": "1"}, headers={"Authorization": "Bearer abcdef"})
    said = "1 four-seven-eleven Bearer abcdef"
    assert without_secrets(server, said) == "1 [KEY] [Authorization]"
    assert without_secrets(ServerSettings(command="a", env=server.env), said) == said


def test_what_it_is_told_to_read_of_a_home_it_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (".ssh/id", ".local/bin/run", "tools/server.js", "taxes/of.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def shown(command, *args, kind=Given):
        return [one.removeprefix(f"{tmp_path}/") for one in _named(kind(command=command, args=list(args)))]

    home = str(tmp_path)
    assert shown("cat", f"{home}/.ssh/id") == shown(f"{home}/.ssh/id") == []
    assert shown("node", "--flag", f"{home}/tools/server.js", f"{home}/taxes/of.pdf") == ["tools"]
    assert shown(f"{home}/.local/bin/run") == [".local/bin/run"], "and not .local/share, with its keys"
    tool = tmp_path / ".local/share/uv/tools/x/bin/x"
    tool.parent.mkdir(parents=True)
    tool.touch()
    (tmp_path / ".local/bin/x").symlink_to(tool)
    assert sorted(shown(f"{home}/.local/bin/x")) == [".local/bin/x", ".local/share/uv/tools/x"]
    assert shown("cat", f"{home}/.ssh/id", kind=ServerSettings) == [".ssh"], "a person wrote that into the settings"


def test_what_is_kept_for_one_goes_when_nobody_was_given_it_for_a_month(servers):
    ctx = servers().ctx
    made = [
        ctx.paths.cache / place / name
        for place in ("kept", "homes", "places")
        for name in ("given-1", "given-2", "own")
    ]
    for path in made:
        path.mkdir(parents=True)
        os.utime(path, (1.0, 1.0))
    os.utime(ctx.paths.cache / "kept" / "given-2")
    sweep(ctx)
    assert {path.name for path in made if path.exists()} == {"given-2", "own"}
    assert len([path for path in made if path.exists()]) == 6


async def test_what_one_says_as_it_fails_is_logged_without_what_it_was_given(servers, caplog):
    ctx = servers().ctx
    told = "import os, sys; sys.exit('not with ' + os.environ['KEY'])"
    given = Given(command=sys.executable, args=["-c", told], env={"KEY": "four-seven-eleven"}, wall=False)
    give(ctx, "s", {"x": given})
    await met(ctx, Session(id="s", origin="acp", owner=ctx.owner))
    assert "not with [KEY]" in caplog.text
    assert "four-seven-eleven" not in caplog.text


async def test_two_with_different_keys_are_two_connections(servers):
    there = servers()
    one, other = (Given(command="a", env={"KEY": key}) for key in ("one", "other"))
    there.rows.update(x=one)
    first = there.connection("x", holder="one")
    there.rows.update(x=other)
    assert there.connection("x", holder="other") is not first
    await there.pool.release("one", only={"y"})
    assert there.pool.held_by("one") == {"x": first}
    await there.pool.release("one", only={"x"})
    await there.pool.release("other")
    assert not there.pool.held_by("one")


async def test_one_that_was_not_there_at_first_is_asked_again_as_long_as_it_is_given(servers, monkeypatch, tmp_path):
    monkeypatch.setattr("hermes_tool_mcp.beginning._AGAIN", 0.01)
    there, session = servers(), Session(id="s", origin="acp", owner=Principal())
    words = ("--when", "start", "--do", "die", "--once", str(tmp_path / "once"))
    one = Given(command=sys.executable, args=[str(ODD), *words], wall=False, connect_timeout=30.0)
    give(there.ctx, "s", {"own": one})
    await met(there.ctx, session)
    await until(lambda: lists_of(there.ctx).get("own", one) is not None)
    give(there.ctx, "s", {"gone": Given(command=sys.executable, args=["-c", ""], wall=False)})
    await met(there.ctx, session)
    assert "gone: it is not there, and is tried again" in await own_servers(there.ctx)[0].run(session, "")
    give(there.ctx, "s", {})
    await until(lambda: not there.ctx.state["asking"])
    await there.pool.release("s")


async def test_one_that_is_not_there_is_asked_again_until_the_last_conversation_ends(servers, monkeypatch):
    monkeypatch.setattr("hermes_tool_mcp.beginning._AGAIN", 600.0)
    there = servers(gone={"command": sys.executable, "args": ["-c", ""], "wall": False})
    one, other = (Session(id=name, origin="acp", owner=Principal()) for name in ("one", "other"))
    await asked_for_the_first_time(there.ctx, one)
    await asked_for_the_first_time(there.ctx, other)
    await until(lambda: there.ctx.state["asking"].keys() == {"again:gone"})
    await let_go(there.ctx, one)
    assert there.ctx.state["asking"].keys() == {"again:gone"}
    await let_go(there.ctx, other)
    assert not there.ctx.state["asking"]
