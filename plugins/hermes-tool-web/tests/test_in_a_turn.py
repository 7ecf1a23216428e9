"""`web_fetch` in whole turns: what the person set is what holds, and a model that obeys a page gets nowhere."""

import pytest

from hermes_core.testing import Call


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
