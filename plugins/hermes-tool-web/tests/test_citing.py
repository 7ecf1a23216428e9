"""Answers with their sources: what was cited and read is listed once, and nothing is listed that nobody read."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.testing import Call
from hermes_core.types import Ended, Said
from hermes_tool_web.citing import with_sources

PAGES = [("https://a.example/one", "One"), ("https://b.example/two", ""), ("https://a.example/one/more", "More")]
LISTED = {
    "cited by number": ("So it is [2].", [], "So it is [2].\n\nSources:\n[2] https://b.example/two"),
    "read, and not cited": ("So it is.", [1], "So it is.\n\nSources:\n[1] One https://a.example/one"),
    "cited and read": ("So [1] and [1].", [1], "So [1] and [1].\n\nSources:\n[1] One https://a.example/one"),
    "its address is there": ("So it is [1](https://a.example/one).", [1], None),
    "a longer address is there": (
        "See [3](https://a.example/one/more).",
        [1],
        "See [3](https://a.example/one/more).\n\nSources:\n[1] One https://a.example/one",
    ),
    "nothing of it": ("Good morning.", [], None),
    "no source": ("So [9].", [], "So [9].\n\n(No page of this conversation stands behind [9].)"),
    "another address speaks for itself": ("So [1](https://c.example/).", [], None),
    "a link by reference is none": ("See [the page][1].\n\n[1]: https://c.example/", [], None),
    "several together": (
        "So [1][2].",
        [],
        "So [1][2].\n\nSources:\n[1] One https://a.example/one\n[2] https://b.example/two",
    ),
    "code is no citation": ("`a[1]` and x[2]:\n```\ny = [9]\n```", [], None),
    "a link is none, and a year neither": ("[the page](https://c.example/) of [2024]", [], None),
    "a picture is none": ("![1](https://c.example/1.png)", [], None),
}


@pytest.mark.parametrize("case", LISTED)
def test_what_is_listed(case):
    answer, read, wanted = LISTED[case]
    assert with_sources(answer, PAGES, read) == (wanted or answer)


def test_a_title_is_no_more_than_words():
    title = "MEDIA:/work/plans.pdf ![x](https://evil.example/p.png) `code\n\nSources: [2]"
    said = with_sources("So [1].", [("https://a.example/one", title)], [])
    assert "MEDIA:" not in said
    assert "](" not in said
    assert "`" not in said
    assert said.count("\n") == 3


def test_without_a_page_nothing_is_a_citation():
    assert with_sources("See [1] and [9](https://x.example/).", [], [1, 2]) == "See [1] and [9](https://x.example/)."


@settings(max_examples=200, deadline=None)
@given(
    answer=st.text(alphabet="a[]1239()`. \nhttps://exmplontw", max_size=120),
    read=st.lists(st.integers(0, 5), max_size=6),
)
def test_an_answer_is_only_added_to_and_each_source_is_listed_once(answer, read):
    shown = with_sources(answer, PAGES, read)
    assert shown.startswith(answer), "what was shown stays"
    added = shown[len(answer) :]
    listed = re.findall(r"^\[(\d+)\] .*(https://\S+)$", added, re.MULTILINE)
    assert len({number for number, _ in listed}) == len(listed)
    assert all(PAGES[int(number) - 1][0] == url for number, url in listed)


@pytest.fixture
def played(hermes, scripted, site, here):
    async def play(*steps, session="s1", **more):
        hermes.tmp_plugin(scripted(*steps))
        hermes.tmp_plugin("hermes_tool_web")
        hermes.configure({"security.allow_private_urls": True, "tools.web.search": ["tavily"], **more})
        return [event async for event in hermes.turn("look it up", session=session)]

    return play


ALWAYS = {"tools.web.citations": "always"}


def said(events):
    return [event.text for event in events if isinstance(event, Said)]


async def test_an_answer_made_with_a_page_has_its_source_and_comes_as_it_is_written(played, site):
    site.pages["/page"] = ("text/plain", b"what it says")
    words = "So it is, as one reads there."
    events = await played([Call("web_fetch", {"url": f"{site.url}/page"})], words, **ALWAYS)
    assert isinstance(events[-1], Ended)
    assert events[-1].answer == f"{words}\n\nSources:\n[1] {site.url}/page"
    shown = said(events)
    assert len(shown) > 2, "the words come as they come, the sources behind them"
    assert "".join(shown) == events[-1].answer


async def test_the_next_answer_names_only_what_it_cites(hermes, played, here, site):
    here.finds("tavily", f"{site.url}/page", "https://b.example/")
    site.pages["/page"] = ("text/plain", b"what it says")
    steps = [Call("web_search", {"query": "it"})], [Call("web_fetch", {"url": f"{site.url}/page"})]
    events = await played(*steps, "First.", "Second.", "Third [2].", **ALWAYS)
    assert events[-1].answer.count("Sources:") == 1
    assert "b.example" not in events[-1].answer, "it was found, and neither read nor cited"
    second, third = [[e async for e in hermes.turn("and?", session="s1")][-1].answer for _ in range(2)]
    assert second == "Second."
    assert third == "Third [2].\n\nSources:\n[2] T https://b.example/ https://b.example/"


async def test_where_it_is_not_set_nothing_is_added(played, site):
    site.pages["/page"] = ("text/plain", b"what it says")
    events = await played([Call("web_fetch", {"url": f"{site.url}/page"})], "So it is [1].")
    assert events[-1].answer == "So it is [1]."
