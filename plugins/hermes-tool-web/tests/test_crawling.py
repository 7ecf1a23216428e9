"""A crawl: from link to link of one site, as far as was asked and as its robots.txt allows."""

import time
from pathlib import Path

import pytest
from attrs import evolve

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_tool_kit.fetching import Fetched
from hermes_tool_web import register_tools
from hermes_tool_web.config import Config
from hermes_tool_web.readable import links_of
from hermes_tool_web.tool import Fetch

MANIFEST = read_manifest(Path(__file__).parents[1] / "src/hermes_tool_web/hermes-plugin.toml")


@pytest.fixture
def crawl(tmp_path, site):
    async def do(start="/", most=10, *, rules=UrlRules(allow_private=True), **settings):  # noqa: B008 - a value
        config = Config(**{"crawl_pause": 0, **settings})
        tool = register_tools(evolve(plugin_context(MANIFEST, tmp_path, config=config), urls=rules))[0]
        context = FakeToolContext(FakeWorkspace(folder=tmp_path))
        return await tool.run(context, Fetch(url=site.url + start, crawl=most))

    return do


def page(*links: str, text: str = "text", title: str = "") -> tuple[str, bytes]:
    body = "".join(f'<a href="{link}">to</a>' for link in links)
    return "text/html", f"<title>{title}</title><p>{text}</p>{body}".encode()


async def test_pages_of_the_site_are_read_once_each_nearest_first(crawl, site):
    site.pages |= {
        "/": page("/a", "/b", "/a#part", "https://other.example/", "mailto:x@y.example", "/logo.png", title="Home"),
        "/a": page("/c", "/", text="about a", title="A"),
        "/b": page("/a", text="about b"),
        "/c": page("/d"),
        "/d": page(),
    }
    told = await crawl()
    assert site.asked == ["/robots.txt", "/", "/a", "/b", "/c"]  # /d is three links away
    assert told.startswith(f"# 4 pages of {site.url}/\n{site.url}/ (crawl)")
    assert f"## [1] Home\n{site.url}/\n\ntext" in told
    assert f"## [2] A\n{site.url}/a\n\nabout a" in told
    assert "## [4]" in told


async def test_no_more_pages_than_asked_for_and_than_allowed(crawl, site):
    site.pages["/"] = page(*(f"/{n}" for n in range(40)))
    site.pages |= {f"/{n}": page() for n in range(40)}
    assert "[Found and not read: 38.]" in await crawl(most=3)
    assert len(site.asked) == 4
    await crawl(most=1_000, crawl_pages=5)
    assert len(site.asked) == 4 + 6


async def test_depth_is_a_setting(crawl, site):
    site.pages |= {"/": page("/a"), "/a": page("/b"), "/b": page()}
    await crawl(crawl_depth=1)
    assert site.asked == ["/robots.txt", "/", "/a"]


async def test_what_robots_txt_closes_is_left_alone(crawl, site):
    site.pages |= {
        "/robots.txt": ("text/plain", b"User-agent: other\nDisallow: /a\n\nUser-agent: *\nDisallow: /closed\n"),
        "/": page("/a", "/closed/x"),
        "/a": page(),
        "/closed/x": page(),
    }
    assert "[Closed to programs by its robots.txt: 1.]" in await crawl()
    assert "/closed/x" not in site.asked
    with pytest.raises(ToolError, match=r"robots\.txt of 127\.0\.0\.1 forbids"):
        await crawl("/closed/x")


@pytest.mark.parametrize("broken", [503, 500])
async def test_where_robots_txt_cannot_be_had_nothing_is_read(crawl, site, broken):
    site.pages |= {"/robots.txt": lambda handler: handler.answer(b"", broken), "/": page()}
    with pytest.raises(ToolError, match="Nothing was crawled"):
        await crawl()
    assert site.asked == ["/robots.txt"]


async def test_a_site_may_ask_for_time_between_its_pages(crawl, site):
    site.pages |= {"/robots.txt": ("text/plain", b"User-agent: *\nCrawl-delay: 60\n"), "/": page()}
    with pytest.raises(ToolError, match="asks for 60 seconds between pages"):
        await crawl()


async def test_what_takes_too_long_is_ended_with_what_there_is(crawl, site):
    site.pages |= {"/": page("/a", text="seen"), "/a": lambda handler: time.sleep(1.5)}
    told = await crawl(crawl_seconds=0.5)
    assert "[It was ended after 0.5 seconds.]" in told
    assert "seen" in told


async def test_one_broken_page_does_not_end_it_and_a_broken_first_one_does(crawl, site):
    site.pages |= {"/": page("/gone", "/b"), "/b": page(text="there")}
    told = await crawl()
    assert "[Could not be read: 1.]" in told
    assert "there" in told
    with pytest.raises(ToolError, match="404"):
        await crawl("/gone")


async def test_a_site_without_end_has_one(crawl, site):
    def endless(handler):
        here = handler.path.rstrip("/")
        handler.answer(page(f"{here}/x", f"{here}/y")[1], Content_Type="text/html")

    class Everything(dict):
        def get(self, path):
            return ("text/plain", b"") if path == "/robots.txt" else endless

    site.pages = Everything()
    await crawl(most=8, crawl_depth=1_000)
    assert len(site.asked) == 9


async def test_redirects_to_another_site_are_not_followed(crawl, site):
    site.pages |= {
        "/": page("/away", text="seen"),
        "/away": lambda handler: handler.answer(b"", 302, Location="https://other.example/"),
    }
    assert "[Could not be read: 1.]" in await crawl()


async def test_this_machine_stays_closed_and_a_closed_site_too(crawl, site):
    site.pages["/"] = page()
    with pytest.raises(OutOfReach):
        await crawl(rules=UrlRules())
    with pytest.raises(OutOfReach):
        await crawl(rules=UrlRules(allow_private=True, blocked=("127.0.0.1",)))
    assert not site.asked


async def test_its_pages_are_read_on_without_another_crawl(crawl, tmp_path, site):
    site.pages |= {"/": page("/a", text="word " * 5_000), "/a": page(text="more " * 5_000)}
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))
    config = Config(crawl_pause=0)
    ctx = evolve(plugin_context(MANIFEST, tmp_path, config=config), urls=UrlRules(allow_private=True))
    tool = register_tools(ctx)[0]
    first = await tool.run(context, Fetch(url=f"{site.url}/", crawl=2))
    offset = int(first.rpartition("offset=")[2].rstrip("]"))
    rest = await tool.run(context, Fetch(url=f"{site.url}/", crawl=2, offset=offset))
    assert "more more" in rest
    assert len(site.asked) == 3


def test_links_are_found_whatever_surrounds_them():
    body = b"""<a href="/a?x=1&amp;y=2">a</a><a class=x href='b#top'>b</a><A HREF="//c.example/">c</A><a href=/d>d</a>
    <a href="javascript:x()">d</a><a href="http://[bad">e</a><a name=x>f</a><a href="">g</a><link href="/style">"""
    found = links_of(Fetched("https://a.example/dir/", 200, {"content-type": "text/html"}, body))
    assert found[:2] == ["https://a.example/a?x=1&y=2", "https://a.example/dir/b"]
    assert found[2:] == ["https://c.example/", "https://a.example/d"]
    assert links_of(Fetched("https://a.example/", 200, {"content-type": "text/plain"}, body)) == []


@pytest.mark.parametrize("unit", ["<a href=", '<a href="', "<a ", "<a href='x'>"])
def test_a_page_of_beginnings_ends(unit):
    links_of(Fetched("https://a.example/", 200, {"content-type": "text/html"}, (unit * 100_000).encode()))
