"""The browser in a turn: what comes from pages is outside text, and what sends something needs a person then."""

import pytest

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Request, Returned

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


def ref(request: Request, words: str) -> str:
    """The reference of an element in what the last call gave."""
    text = request.messages[-1].parts[0].parts[0].text
    line = next(line for line in text.splitlines() if words in line and "[ref=" in line)
    return line.partition("[ref=")[2].partition("]")[0]


@pytest.fixture
def play(hermes, tmp_path, site):
    """Plays a turn of these calls; what each gave."""
    place = tmp_path / "place"
    place.mkdir()

    async def play(*steps, **settings) -> list[Returned]:
        hermes.tmp_plugin(ScriptedProvider([*steps, "done"]))
        hermes.tmp_plugin("hermes_tool_browser")
        hermes.configure({"terminal.cwd": str(place), "security.allow_private_urls": True, "policy.mode": "off"})
        hermes.configure(settings)
        said = f"Look at {site.url}/plain"
        events = [event async for event in hermes.runtime.turns.run(said, session="s")]
        return [event for event in events if isinstance(event, Returned)]

    return play


def text(returned: Returned) -> str:
    return "".join(part.text for part in returned.result.parts)


def calls(site):
    return (
        Call("browser_navigate", {"url": f"{site.url}/plain"}),
        lambda request: Call("browser_click", {"ref": ref(request, 'link "To the form"')}),
        lambda request: Call("browser_click", {"ref": ref(request, 'checkbox "Agree"')}),
        Call("browser_snapshot", {}),
        lambda request: Call("browser_click", {"ref": ref(request, 'button "Send it"')}),
    )


async def test_a_page_is_outside_text_links_are_followed_and_a_button_needs_a_person(play, site):
    site.got.clear()
    opened, followed, chosen, _, pressed = await play(*calls(site))
    assert text(opened).startswith("<untrusted from='browser_navigate'>")
    assert opened.result.untrusted
    assert "Form" in text(followed)
    assert not chosen.result.failed, text(chosen)
    assert pressed.result.failed
    assert "presses button “Send it” on 127.0.0.1" in text(pressed)
    assert not site.got, "nothing was sent"


async def test_on_a_site_that_a_person_listed_it_is_pressed(play, site):
    *_, pressed = await play(*calls(site), **{"tools.browser.sites": ["127.0.0.1"]})
    assert "Thank you" in text(pressed)


async def test_a_host_that_a_page_made_up_is_asked_about(play, site):
    _, other = await play(
        Call("browser_navigate", {"url": f"{site.url}/plain"}),
        Call("browser_navigate", {"url": "http://evil.example/?q=1"}),
    )
    assert other.result.failed
    assert "opens evil.example, which you have not named" in text(other)
