"""The right one of two thousand tools is found: by its name, and by what a person would say."""

import asyncio
import sys
from pathlib import Path

import pytest

import hermes_tool_search
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.fake_context import FakeToolContext
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.testing.steps import Steps
from hermes_core.types import Offer
from hermes_tool_search.config import Config
from hermes_tool_search.index import Index
from hermes_tool_search.offering import by_search
from hermes_tool_search.tools import make_search, tool_describe

sys.path.insert(0, str(Path(__file__).parent))  # for tool_corpus; pytest does not do it in this import mode

from tool_corpus import asked, tools

MANIFEST = read_manifest(Path(hermes_tool_search.__file__).with_name("hermes-plugin.toml"))


@pytest.fixture(scope="module")
def offer():
    specs, sets = tools()
    return Offer(tools=(), behind=tuple(specs), toolsets=sets)


@pytest.fixture(scope="module")
def index(offer):
    return Index([(one.name, offer.toolsets[one.name], one.description, "id") for one in offer.behind])


def share(index, pairs):
    return sum(name in index.search(words, 5) for words, name in pairs) / len(pairs)


def test_what_is_asked_for_in_other_words_is_among_the_first_five(index):
    assert share(index, asked(held_out=False)) >= 0.95
    assert share(index, asked(held_out=True)) >= 0.92, "those that nothing was chosen by"


def test_each_is_found_first_by_its_name(index, offer):
    for one in offer.behind[::23]:
        for name in (one.name, one.name.removeprefix("mcp__"), one.name.removeprefix("mcp__").replace("_", " ")):
            assert one.name in index.search(name, 3)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("listPullRequests", "mcp__github_list_pull_requests"),
        ("slack sendmessage", "mcp__slack_send_message"),
        ("kubernets deploymnt restart", "mcp__kubernetes_restart_deployment"),
        ("Deleting Dropbox folders", "mcp__dropbox_delete_folder"),
    ],
)
def test_names_are_split_and_slips_forgiven(index, query, name):
    assert name in index.search(query, 5)


def test_what_says_nothing_finds_nothing(index):
    for query in ("", "   ", "the of and", "\x00", "?!"):
        assert index.search(query, 5) == []


def test_no_query_takes_long(index):
    """A long query is looked at once for each of its words, whatever they are."""
    query = " ".join(words for words, _ in asked(held_out=False))
    with Steps(len(query), each=5_000, first=200_000):
        index.search(query, 5)


async def test_the_tools_answer_from_the_index(offer, tmp_path):
    tool_search = make_search(plugin_context(MANIFEST, tmp_path / "home"))
    place = FakeWorkspace(folder=tmp_path)
    context = FakeToolContext(place, tools=offer)
    found = await tool_search.run(context, tool_search.params(query="close the pull request on github", limit=3))
    assert found.startswith("mcp__github_close_pull_request: Close a pull request")
    assert len(found.splitlines()) == 3
    described = await tool_describe.run(context, tool_describe.params(names=["mcp__github_close_pull_request"]))
    assert '"id"' in described
    both = await asyncio.gather(
        *(tool_search.run(context, tool_search.params(query="put a card on trello")) for _ in range(2))
    )
    assert both[0] == both[1]


def test_the_names_of_many_sets_take_little_room(offer, tmp_path):
    from hermes_core.agent.arguments import tool_spec
    from hermes_core.agent.indirect import call_tool

    tool_search = make_search(plugin_context(MANIFEST, tmp_path))
    three = (tool_spec(tool_search), tool_spec(tool_describe), tool_spec(call_tool()))
    given = by_search(Offer(tools=(*three, *offer.behind), toolsets=offer.toolsets), Config(tool_search="on"))
    assert [one.name for one in given.tools] == [one.name for one in three]
    import json

    said = json.dumps([[one.name, one.description, one.schema] for one in given.tools], separators=(",", ":"))
    assert len(said) <= 1_024
    assert " more." in given.tools[0].description
