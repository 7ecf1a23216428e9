"""`web_fetch` in whole turns: what the person set is what holds, and a model that obeys a page gets nowhere."""

import pytest

from hermes_core.testing import Call
from hermes_core.types import Session


@pytest.fixture
def told(hermes, scripted, site):
    """What a model that calls ``web_fetch`` is told, under settings."""

    async def ask(url, **settings):
        provider = scripted([Call("web_fetch", {"url": url})], "done")
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_tool_web")
        hermes.configure(settings)
        async for _ in hermes.turn("fetch it", session="s1"):
            pass
        (result,) = provider.requests[-1].messages[-1].parts
        return result

    return ask


def text(result):
    return "".join(part.text for part in result.parts)


async def test_this_machine_is_closed_until_the_person_opens_it(told, site):
    result = await told(site.url)
    assert result.failed
    assert "security.allow_private_urls" in text(result)
    assert not site.asked


async def test_the_person_opens_it_and_the_result_is_marked(told, site):
    site.pages["/"] = ("text/plain", b"hello")
    result = await told(f"{site.url}/", **{"security.allow_private_urls": True})
    assert not result.failed
    assert "hello" in text(result)
    assert result.untrusted


async def test_a_closed_site_stays_closed_without_questions(told, site):
    settings = {"security.allow_private_urls": True, "security.blocked_sites": ["127.0.0.1"], "policy.mode": "off"}
    result = await told(site.url, **settings)
    assert "security.blocked_sites" in text(result)
    assert not site.asked


@pytest.mark.parametrize("form", ["hunter22secret", "hunter22%73ecret", "hunter22%2573ecret"])
async def test_a_secret_of_the_environment_does_not_leave_in_a_url(told, site, monkeypatch, form):
    monkeypatch.setenv("ACME_API_KEY", "hunter22secret")
    result = await told(f"{site.url}/?q={form}", **{"security.allow_private_urls": True, "policy.mode": "off"})
    assert "carries a secret of this machine" in text(result)
    assert "hunter22" not in text(result)
    assert not site.asked


@pytest.fixture
def played(hermes, scripted, site, here):
    """The results of calls that a model makes one after another with nobody there, and what it said at the end."""

    async def play(*calls, answer="done", **settings):
        provider = scripted(*[[call] for call in calls], answer)
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_tool_web")
        hermes.configure({"security.allow_private_urls": True, "tools.web.search": ["tavily"], **settings})
        async for _ in hermes.turn("look it up", session="s1"):
            pass
        return [part for message in provider.requests[-1].messages if message.role == "tool" for part in message.parts]

    return play


async def test_searching_and_reading_what_was_found_asks_nobody(played, here, site):
    here.finds("tavily", f"{site.url}/page")
    site.pages["/page"] = ("text/plain", b"what it says")
    search = Call("web_search", {"query": "it"})
    read = Call("web_fetch", {"url": f"{site.url}/page"})
    results = await played(search, Call("web_search", {"query": "more of it"}), read)
    assert [result.failed for result in results] == [False, False, False]
    assert all(result.untrusted for result in results)
    assert "[1] T " in text(results[0])
    assert "what it says" in text(results[2])
    assert f"[1] {site.url}/page" in text(results[2])


@pytest.mark.parametrize("more", [{"url": "/page?stolen=1"}, {"url": "/page /other"}, {"crawl": 3}])
async def test_an_address_that_no_search_gave_still_asks(played, here, site, more):
    here.finds("tavily", f"{site.url}/page")
    site.pages["/page"] = ("text/plain", b"what it says")
    url = " ".join(site.url + one for one in more.get("url", "/page").split())
    fetch = Call("web_fetch", {"url": url, **({"crawl": 3} if "crawl" in more else {})})
    _, refused = await played(Call("web_search", {"query": "it"}), fetch)
    assert refused.failed
    assert "127.0.0.1, which you have not named" in text(refused)
    assert not [path for path in site.asked if path.startswith("/page")]


async def test_a_page_that_names_an_address_is_no_search(played, here, site):
    site.pages["/"] = ("text/plain", f"{site.url}/page".encode())
    first, then = ({"url": url} for url in (f"{site.url}/", "http://b.example/?x"))
    _, refused = await played(Call("web_fetch", first), Call("web_fetch", then))
    assert refused.failed


async def test_a_rule_of_the_person_forbids_searching(played, here):
    results = await played(Call("web_search", {"query": "it"}), **{"policy.deny": ["web_search(*)"]})
    assert results[0].failed
    assert not here.asked


async def test_a_key_is_in_nothing_that_is_kept(played, here, site, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "hunter22secret")
    here.answers("tavily", lambda handler: handler.answer(b"hunter22secret is wrong", 401))
    (result,) = await played(Call("web_search", {"query": "it"}))
    assert site.requests[0][1]["authorization"] == "Bearer hunter22secret"
    assert "refuses the key (401)" in text(result)
    assert "hunter22" not in text(result)


async def test_the_sources_of_a_conversation_are_shown(hermes, played, here, site):
    here.finds("tavily", f"{site.url}/page", "https://b.example/")
    await played(Call("web_search", {"query": "it"}), answer="So it is [1].")
    session = Session(id="s1", origin="embed", cwd="/")
    assert str(await hermes.slash("/sources", session)) == (
        f"[1] T {site.url}/page {site.url}/page\n[2] T https://b.example/ https://b.example/"
    )
