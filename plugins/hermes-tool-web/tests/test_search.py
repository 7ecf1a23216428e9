"""`web_search`: every service by its documented interface, who is asked, and what a model is shown."""

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core import notices
from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.types import Effect
from hermes_tool_web import register_checks, register_tools
from hermes_tool_web.config import Config
from hermes_tool_web.search.asking import Hit
from hermes_tool_web.search.ranking import fused, same_page
from hermes_tool_web.search.services import SECRETS, services
from hermes_tool_web.search.tool import Search

from .answers import ANSWERS, ASKED, KEYLESS, LINKS, PAGE

MANIFEST = read_manifest(Path(__file__).parents[1] / "src/hermes_tool_web/hermes-plugin.toml")
OPEN = UrlRules(allow_private=True)
ALL = dict.fromkeys(SECRETS, "K")


class Seat:
    """A tool in a home of its own, and what its person was told."""

    def __init__(self, folder, config, secrets, urls):
        ctx = plugin_context(MANIFEST, folder, config=config, secrets=secrets)
        _, self.tool = register_tools(evolve(ctx, urls=urls))
        self.context = FakeToolContext(FakeWorkspace(folder=folder))
        self.told: list[str] = []

    async def search(self, query="two words", **more):
        with notices.heard_by(self.told.append):
            return await self.tool.run(self.context, Search(query=query, **more))

    def next_is(self, name):
        """Let the next search begin with this free service."""
        from hermes_tool_web.search.chain import Chain

        chain = self.tool_chain()
        assert isinstance(chain, Chain)
        free = [service.name for service in chain._free()]
        chain._turn = free.index(name) - 1

    def tool_chain(self):
        self.tool.touches(Search(query="x"))
        cells = {c.cell_contents for c in self.tool.touches.__closure__ if callable(c.cell_contents)}
        return next(iter(cells))()


@pytest.fixture
def seat(tmp_path, here):
    def make(*, secrets=None, urls=OPEN, **settings):
        return Seat(tmp_path, Config(**settings), secrets or {}, urls)

    return make


def test_every_row_has_its_answer_and_the_manifest_its_secrets():
    rows = services()
    assert set(rows) == set(ANSWERS) == set(ASKED)
    needed = {secret for row in rows.values() for secret in (row.key, row.other) if secret}
    assert needed == set(SECRETS) == set(MANIFEST.secrets)
    for row in rows.values():
        assert row.source.startswith("https://"), row.name
        assert row.terms, row.name
        assert row.key or row.keyless, row.name
        assert row.url.startswith("https://") or row.own, row.name


def services_block() -> str:
    lines = ["| Name | Service | Secret | Terms | Compared with |", "|---|---|---|---|---|"]
    for row in services().values():
        secret = ", ".join(f"`{name}`" for name in (row.key, row.other) if name)
        free = " (free without)" if row.key and row.keyless else ""
        about = "" if row.general else f", {row.about}"
        lines.append(
            f"| `{row.name}` | [{row.title}]({row.source}){about} | {secret}{free} | {row.terms} | {row.checked} |"
        )
    return "\n".join(lines)


def test_the_readme_lists_every_service():
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    block = readme.partition("<!-- services: generated, do not edit -->\n")[2].partition("<!-- end of services")[0]
    assert block.strip() == services_block(), f"between its markers the README should say:\n\n{services_block()}"


async def test_doctor_says_whom_a_search_asks(tmp_path):
    async def found(**settings):
        ctx = plugin_context(MANIFEST, tmp_path, config=Config(**settings), secrets={"EXA_API_KEY": "K"})
        ((finding,),) = [await check.run() for check in register_checks(ctx)]
        return finding.level, finding.text

    assert await found() == ("ok", "A search asks Exa.")
    assert await found(search=["wikipedia", "arxiv"]) == ("ok", "A search asks Wikipedia and arXiv.")
    assert await found(search=["brave"]) == ("fault", "tools.web.search names brave, and BRAVE_API_KEY is not set.")


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_service_is_asked_and_understood_as_it_documents(seat, here, site, name):
    here.answers(name, ANSWERS[name])
    mine = seat(secrets=ALL, search=[name], searxng=site.url if name == "searxng" else "")
    told = await mine.search()
    title = services()[name].title
    assert told.splitlines()[0].endswith(f"by {title}. Cite what you use as [n](URL).")
    assert f"\n[1] Title\n{LINKS.get(name, PAGE)}\nText" in told
    (path, headers, body) = site.requests[0]
    param, wanted, heads = ASKED[name]
    assert dict(parse_qsl(urlsplit(path).query)) == param
    assert (json.loads(body) if body else {}) == wanted
    assert {key: headers.get(key) for key in heads} == heads
    assert headers["accept"] == ("application/atom+xml" if name == "arxiv" else "application/json")


@pytest.mark.parametrize("name", [row.name for row in services().values() if row.keyless and not row.own])
async def test_one_that_needs_no_key_is_asked_without(seat, here, site, name):
    here.answers(name, ANSWERS[name])
    assert "[1] Title" in await seat(search=[name]).search()
    headers = site.requests[0][1]
    assert "authorization" not in headers
    assert "x-api-key" not in headers
    assert {key: headers.get(key) for key in KEYLESS.get(name, {})} == KEYLESS.get(name, {})


async def test_a_story_without_a_page_of_its_own_is_its_thread(seat, here):
    here.answers("hackernews", ANSWERS["hackernews"])
    told = await seat(search=["hackernews"]).search()
    assert "[2] Ask\nhttps://news.ycombinator.com/item?id=8\nWhy's that" in told


async def test_a_fresh_install_searches_and_the_services_take_turns(seat, here):
    free = ["tavily", "firecrawl", "you", "marginalia"]
    for name in free:
        here.answers(name, ANSWERS[name])
    mine = seat()
    for _ in range(8):
        assert "[1] Title" in await mine.search()
    assert sorted(here.asked[:4]) == sorted(free)
    assert here.asked[4:] == here.asked[:4]
    assert not mine.told


async def test_one_that_fails_gives_way_rests_and_is_told_once(seat, here):
    here.answers("firecrawl", lambda handler: handler.answer(b"", 429, Retry_After="600"))
    here.answers("you", ANSWERS["you"])
    mine = seat()
    mine.next_is("firecrawl")
    assert "[1] Title" in await mine.search()
    assert here.asked == ["firecrawl", "you"]
    for _ in range(4):
        await mine.search()
    assert here.asked.count("firecrawl") == 1
    assert [line for line in mine.told if "Firecrawl" in line] == [
        "Firecrawl did not answer a search: its limit is reached (429)."
    ]


async def test_what_knows_of_the_matter_is_asked_beside_and_the_lists_are_one(seat, here):
    here.answers("tavily", {"results": [{"title": "Q", "url": "http://www.page.example/x/?utm_source=a#top"}]})
    here.answers("stackexchange", {"items": [{"question_id": 42, "title": "S", "excerpt": "e"}]})
    here.answers("hackernews", ANSWERS["hackernews"])
    mine = seat()
    mine.next_is("tavily")
    told = await mine.search("segfault error in python show hn")
    assert set(here.asked) == {"tavily", "stackexchange", "hackernews"}
    assert told.splitlines()[2:5] == ["[1] Title", PAGE, "Text"]  # two lists have it, one with a text
    assert "[2] S\nhttps://stackoverflow.com/q/42\ne" in told
    assert "by Tavily, Stack Overflow, Hacker News" in told


async def test_where_no_general_one_answers_those_for_one_thing_do(seat, here):
    here.answers("wikipedia", ANSWERS["wikipedia"])
    mine = seat()
    assert f"[1] Title\n{LINKS['wikipedia']}" in await mine.search()
    assert set(here.asked) >= {"tavily", "firecrawl", "you", "marginalia", "wikipedia"}


async def test_nobody_there_is_one_clear_error(seat, here):
    mine = seat()
    with pytest.raises(ToolError, match="Nobody answered the search: ") as refused:
        await mine.search()
    assert "Tavily" in refused.value.text
    assert refused.value.text.count("it could not (404)") == 1, "those that fail for one reason are told together"
    assert len(mine.told) == 1
    assert mine.told[0].endswith(" did not answer a search: it could not (404).")
    assert "TAVILY_API_KEY" in refused.value.hint
    assert refused.value.retry


async def test_a_key_comes_first_and_its_failure_is_not_the_end(seat, here, site):
    here.answers("brave", lambda handler: handler.answer(b"", 401))
    here.answers("exa", ANSWERS["exa"])
    mine = seat(secrets={"BRAVE_API_KEY": "hunter22", "EXA_API_KEY": "K"})
    assert "by Exa" in await mine.search()
    assert here.asked == ["brave", "exa"]
    assert mine.told == ["Brave did not answer a search: it refuses the key (401). Look at BRAVE_API_KEY."]
    assert "by Exa" in await mine.search()
    assert here.asked == ["brave", "exa", "exa"]


async def test_ones_own_searxng_comes_before_all(seat, here, site):
    here.answers("searxng", ANSWERS["searxng"])
    mine = seat(secrets=ALL, searxng=f"{site.url}/", urls=UrlRules())
    assert mine.tool.touches(Search(query="x")) == ["host:127.0.0.1"]
    assert "by SearXNG" in await mine.search()
    assert here.asked == ["searxng"]


async def test_chosen_ones_are_all_asked_and_nobody_else(seat, here):
    here.answers("wikipedia", ANSWERS["wikipedia"])
    here.answers("github", ANSWERS["github"])
    mine = seat(search=["wikipedia", "github"])
    assert "by Wikipedia, GitHub" in await mine.search()
    assert sorted(here.asked) == ["github", "wikipedia"]


@pytest.mark.parametrize(
    ("names", "said"),
    [(["bingo"], "'bingo', which is no service"), (["brave"], "BRAVE_API_KEY is not set"),
     (["google"], "GOOGLE_CSE_API_KEY and GOOGLE_CSE_ID is not set"), (["searxng"], "tools.web.searxng is not set")],
)  # fmt: skip
async def test_a_choice_that_cannot_be_is_said(seat, names, said):
    mine = seat(search=names)
    with pytest.raises(ToolError, match=said):
        await mine.search()
    with pytest.raises(OutOfReach, match=said):
        mine.tool.touches(Search(query="x"))


async def test_the_hosts_that_may_be_asked_are_told_to_the_policy(tmp_path):
    def touches(**settings):
        secrets = settings.pop("secrets", None)
        ctx = plugin_context(MANIFEST, tmp_path, config=Config(**settings), secrets=secrets)
        return register_tools(ctx)[1].touches(Search(query="x"))

    assert touches(search=["wikipedia"]) == ["host:en.wikipedia.org"]
    assert "host:api.search.brave.com" not in touches()
    assert {"host:api.tavily.com", "host:api.you.com", "host:hn.algolia.com"} <= set(touches())
    assert "host:api.search.brave.com" in touches(secrets={"BRAVE_API_KEY": "K"})
    tool = register_tools(plugin_context(MANIFEST, tmp_path, config=Config()))[1]
    assert tool.untrusted
    assert tool.effects == {Effect.NETWORK}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"<html>maintenance</html>", "form that is not documented"),
        (b'{"results": 3}', "form that is not documented"),
        (b"[" * 100_000, "form that is not documented"),
        (b"\xff\xfe\x00", "form that is not documented"),
        (b'["no"]', "form that is not documented"),
        (lambda handler: handler.answer(b"", 302, Location="https://elsewhere.example/"), "sends on to"),
        (lambda handler: handler.answer(b"x" * 9, Content_Length="99999"), "form that is not documented"),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "does not speak proper HTTP"),
        (lambda handler: handler.answer(b"", 500), "it could not \\(500\\)"),
    ],
    ids=range(9),
)
async def test_a_broken_answer_is_one_line(seat, here, answer, said):
    here.answers("tavily", answer)
    with pytest.raises(ToolError, match=said):
        await seat(search=["tavily"]).search()


@pytest.mark.parametrize(
    "answer",
    [{}, {"results": []}, {"results": [None, 3, {}, {"url": ""}, {"url": 5}, {"title": "no address"}]}],
    ids=range(3),
)
async def test_no_results_are_no_error(seat, here, answer):
    here.answers("tavily", answer)
    assert (await seat(search=["tavily"]).search()) == "Nothing was found for 'two words'. Other words may find it."


async def test_a_slow_service_is_not_waited_for(seat, here):
    import time

    here.answers("tavily", lambda handler: time.sleep(2))
    with pytest.raises(ToolError, match=r"did not answer in full within 0\.2 seconds"):
        await seat(search=["tavily"], search_seconds=0.2).search()


async def test_an_endless_answer_is_cut(seat, here):
    here.answers("tavily", lambda handler: handler.answer(b'{"results": [' + b'{"url": "http://a.example"},' * 200_000))
    with pytest.raises(ToolError, match="form that is not documented"):
        await seat(search=["tavily"]).search()


async def test_what_may_not_be_opened_is_not_shown(seat, here):
    bad = (
        "http://169.254.169.254/x",
        "javascript:alert(1)",
        "http://a@b.example/",
        "https://closed.example/y",
        "ftp://x.example/",
    )
    here.finds("tavily", *bad, "https://fine.example/")
    told = await seat(search=["tavily"], urls=UrlRules(allow_private=True, blocked=("closed.example",))).search(
        limit=20
    )
    assert told.startswith("1 result for")
    assert "[1] T https://fine.example/" in told
    assert not any(url in told for url in bad)


async def test_titles_and_texts_are_one_line_without_what_nobody_sees(seat, here):
    row = {"url": PAGE, "title": "A\u200b <b>title</b>\n\nof  two", "content": "x\U000e0069 &lt;i&gt;" + "y" * 9_000}
    here.answers("tavily", {"results": [row]})
    told = await seat(search=["tavily"]).search()
    assert "[1] A title of two\n" in told
    assert "\nx <i>yyy" in told
    assert len(told) < 800


@pytest.mark.parametrize("query", ["", "  \n "])
async def test_an_empty_query_is_refused(seat, query):
    with pytest.raises(ToolError, match="nothing to search"):
        await seat().search(query)


async def test_a_secret_does_not_leave_in_a_query(seat, site):
    rules = UrlRules(allow_private=True, is_secret=lambda text: "hunter22" in text)
    with pytest.raises(ToolError, match="holds a secret"):
        await seat(urls=rules).search("what is hunter22")
    assert not site.asked


async def test_a_key_in_the_address_shows_in_no_error(tmp_path, here, monkeypatch):
    rows = {**here.rows, "google": evolve(here.rows["google"], url="http://no-such-host.invalid/")}
    monkeypatch.setattr("hermes_tool_web.search.chain.services", lambda: rows)
    secrets = {"GOOGLE_CSE_API_KEY": "hunter22", "GOOGLE_CSE_ID": "engine77"}
    mine = Seat(tmp_path, Config(search=["google"]), secrets, OPEN)
    with pytest.raises(ToolError) as refused:
        await mine.search()
    shown = f"{refused.value} {refused.value.hint} {mine.told}"
    assert "hunter22" not in shown
    assert "engine77" not in shown


@pytest.mark.parametrize("query", ["{key}", "{other} {limit} {base}", "%s %(key)s", "a&key=b", '"} , {"'])
async def test_what_looks_like_a_place_in_a_query_is_the_query(seat, here, site, query):
    here.answers("brave", ANSWERS["brave"])
    await seat(secrets=ALL, search=["brave"]).search(query)
    assert dict(parse_qsl(urlsplit(site.requests[0][0]).query))["q"] == query


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example", "https://www.a.example/"),
        ("https://a.example/x?b=1&a=2", "https://A.example/x/?a=2&b=1#part"),
        ("https://a.example/x?utm_source=n&q=1&fbclid=3", "https://a.example/x?q=1"),
        ("https://a.example:443/x", "http://a.example:80/x"),
    ],
)
def test_spellings_of_one_page_are_one(one, other):
    assert same_page(one) == same_page(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("https://a.example/x", "https://a.example/y"), ("https://a.example/?p=1", "https://a.example/?p=2"),
     ("https://a.example:8443/", "https://a.example/"), ("https://a.example/X", "https://a.example/x")],
)  # fmt: skip
def test_other_pages_are_others(one, other):
    assert same_page(one) != same_page(other)


URLS = st.text(alphabet="ab/?&=.#:%[]", max_size=12).map(lambda rest: f"https://x.example/{rest}")
HITS = st.lists(st.builds(Hit, URLS, st.text(max_size=3), st.text(max_size=3)), max_size=8)


@given(st.lists(st.tuples(HITS, st.sampled_from([0.7, 1.0])), max_size=4), st.integers(0, 10))
def test_what_is_fused_is_there_once_and_came_from_somewhere(lists, most):
    got = fused(lists, most)
    pages = [same_page(hit.url) for hit in got]
    assert len(pages) == len(set(pages)) <= most
    assert set(got) <= {hit for hits, _ in lists for hit in hits}


@given(HITS)
def test_one_list_keeps_its_order(hits):
    once = list({same_page(hit.url): hit for hit in reversed(hits)}.values())[::-1]
    assert [same_page(hit.url) for hit in fused([(hits, 1.0)], 99)] == [same_page(hit.url) for hit in sorted(
        once, key=lambda hit: [same_page(one.url) for one in hits].index(same_page(hit.url))
    )]  # fmt: skip


def test_what_two_found_stands_before_what_one_found_at_the_same_place():
    a, b, c = (Hit(f"https://{name}.example/", name, "t") for name in "abc")
    assert fused([([a, b], 1.0), ([c, b], 1.0)], 3)[0] == b
