"""Names, lines, forms of other programs, and addresses of logins: whatever they hold."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.project import manifest_path
from hermes_core.types import Principal, Session, Speaker
from hermes_tool_mcp.config import Config, ServerSettings
from hermes_tool_mcp.foreign import found, taken
from hermes_tool_mcp.known import closed_to
from hermes_tool_mcp.lists import Listed, ListedTool, Lists, mark_of
from hermes_tool_mcp.login import Tokens, read_answer
from hermes_tool_mcp.names import LONGEST, named, server_of
from hermes_tool_mcp.wire import Lines


@pytest.fixture
def context(tmp_path):
    return plugin_context(read_manifest(manifest_path("hermes_tool_mcp")), tmp_path / "home")


@given(st.lists(st.text(min_size=1, max_size=200), unique=True, max_size=50))
def test_every_tool_has_a_name_that_every_provider_takes_and_none_is_lost(tools):
    import re

    names = named("server", tools)
    assert sorted(names.values()) == sorted(tools)
    assert all(re.fullmatch(r"mcp__server__[A-Za-z0-9_-]+", one) and len(one) <= LONGEST for one in names)
    assert all(server_of(one) == "server" for one in names)


@given(st.lists(st.text(min_size=1, max_size=200), unique=True, min_size=1, max_size=20))
def test_a_name_does_not_depend_on_what_else_there_is(tools):
    whole = named("s", tools)
    assert all(whole[next(iter(named("s", [one])))] == one for one in tools)


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_lines_are_the_same_however_they_are_cut(data, cuts):
    lines, pieces = Lines(), []
    for begin, end in pairwise([0, *sorted(cuts), len(data)]):
        pieces += lines.feed(data[begin:end])
    assert pieces == [one for one in data.split(b"\n")[:-1] if one.strip()]


def test_a_line_without_end_is_refused():
    lines = Lines(100)
    assert not any(lines.feed(b"x" * 10) for _ in range(10))
    with pytest.raises(ValueError, match="more than 100"):
        lines.feed(b"x" * 10)


def test_servers_of_other_programs_are_taken_with_their_keys_as_secrets(tmp_path):
    folder, home = tmp_path / "work", tmp_path / "home"
    (folder / ".vscode").mkdir(parents=True)
    (home / ".codex").mkdir(parents=True)
    one = {"command": "npx", "args": ["-y", "x"], "env": {"API_KEY": "abc", "MODE": "fast", "T": "${GH}"}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"My Server!": one}}))
    (folder / ".vscode" / "mcp.json").write_text(json.dumps({"servers": {"far": {"url": "https://a.example/mcp"}}}))
    (home / ".codex" / "config.toml").write_text('[mcp_servers.far]\nurl = "https://b.example"\n[mcp_servers.odd]\n')
    (home / ".claude.json").write_text("{not json")
    there = {one.name: one for one in found(home, folder)}
    assert there.keys() == {"my-server", "far"}
    settings, secrets, wanting = taken(there["my-server"], {"GH": "tok"})
    assert settings["env"] == {"API_KEY": "${MCP_MY_SERVER_API_KEY}", "MODE": "fast", "T": "${MCP_GH}"}
    assert secrets == {"MCP_MY_SERVER_API_KEY": "abc", "MCP_GH": "tok"}
    assert not wanting
    assert taken(there["far"], {})[0] == {"url": "https://a.example/mcp"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_other_programs_wrote_is_read_or_left_out(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    (folder / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"a": data, "b": {"command": "x", "env": data, "args": data}}})
    )
    for one in found(folder, folder):
        taken(one, {})


def test_the_address_that_a_login_ended_at_is_read_whole_or_in_part():
    for text in ("http://127.0.0.1:1/callback?code=c&state=s&iss=i", "?code=c&state=s&iss=i", "code=c&state=s&iss=i\n"):
        answer = read_answer(text)
        assert (answer.code, answer.state, answer.iss) == ("c", "s", "i")
    with pytest.raises(UserError, match="refused: no"):
        read_answer("http://127.0.0.1/callback?error=access_denied&error_description=no")
    with pytest.raises(UserError, match="no code"):
        read_answer("hello")


async def test_tokens_are_for_nobody_else_and_for_one_address(tmp_path):
    from mcp.shared.auth import OAuthToken

    tokens = Tokens(tmp_path, "one", "https://a.example")
    await tokens.set_tokens(OAuthToken(access_token="t", expires_in=60, refresh_token="r"))
    path = tmp_path / "logins" / "one.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (await tokens.get_tokens()).access_token == "t"
    assert not Tokens(tmp_path, "one", "https://b.example").there
    assert tokens.forget()
    assert not tokens.there


@pytest.mark.parametrize(
    ("people", "owner", "speaker", "closed"),
    [
        ([], "owner", "", False),
        ([], "anna", "", True),
        ([], "owner", "anna", True),
        (["anna"], "anna", "", False),
        (["anna"], "anna", "ben", True),
        (["*"], "ben", "carl", False),
    ],
)
def test_a_server_is_its_owners_and_of_whom_settings_name(context, people, owner, speaker, closed):
    who = Speaker(person=speaker) if speaker else None
    session = Session(id="s", origin="cli", owner=Principal(person=owner), speaker=who)
    assert closed_to(context, ServerSettings(url="https://a.example", people=people), session) is closed


def test_a_name_or_an_address_that_cannot_be_is_no_setting():
    for name in ("A", "a__b", "-a", "a" * 30, ""):
        with pytest.raises(ValueError, match="no name for a server"):
            Config(servers={name: ServerSettings(url="https://a.example")})
    with pytest.raises(ValueError, match="no address"):
        ServerSettings(url="ftp://a.example")


def test_a_list_is_of_the_settings_it_was_made_with(tmp_path):
    lists, one = Lists(tmp_path), ServerSettings(url="https://a.example")
    tool = ListedTool(name="t", description="A tool.", schema={"type": "object"})
    assert lists.put("a", Listed(mark=mark_of(one), tools=(tool,), at=1.0))
    assert not lists.put("a", Listed(mark=mark_of(one), tools=(tool,), at=2.0))
    assert Lists(tmp_path).get("a", one).tools == (tool,)
    assert lists.get("a", ServerSettings(url="https://b.example")) is None
    (tmp_path / "lists" / "a.json").write_text("{half")
    assert lists.get("a", one) is None
    lists.forget("a")
    assert lists.get("a", one) is None
