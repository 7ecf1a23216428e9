"""A script in a turn: its calls are judged, written down below its own, and mark what they bring from outside."""

from collections.abc import Callable

import pytest
from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Request, Returned
from hermes_tool_python.choice import why_not


@frozen
class Named:
    path: str = "x"


@tool(untrusted=True)
async def page(given: Named) -> str:
    """A page from elsewhere."""
    return f"the page {given.path}"


@tool
async def note(given: Named) -> str:
    """A note of our own."""
    return f"the note {given.path}"


def scripted(request: Request) -> Call | str:
    """The script that was said, then the end."""
    last = request.messages[-1]
    return "done" if last.role == "tool" else Call("execute_code", {"code": last.parts[0].text}, id="c")


@pytest.fixture(params=["fast", "full"])
def say(request, hermes, tmp_path) -> Callable:
    """Runs a script in a turn; every call that returned."""
    if request.param == "fast" and why_not():
        pytest.skip(why_not())
    place = tmp_path / "place"
    place.mkdir()
    for thing in (ScriptedProvider([scripted] * 20), "hermes_tool_python", "hermes_backend_local"):
        hermes.tmp_plugin(thing)
    hermes.tmp_plugin(page, note, name="both")
    hermes.configure({"tools.python.mode": request.param, "policy.mode": "off", "terminal.backend": "local"})
    hermes.configure({"terminal.cwd": str(place), "backends.local.wall": "none"})

    async def say(code: str) -> list[Returned]:
        events = [event async for event in hermes.runtime.turns.run(code, session="s")]
        return [event for event in events if isinstance(event, Returned)]

    return say


def text(returned: Returned) -> str:
    return "".join(part.text for part in returned.result.parts)


async def test_its_calls_have_rows_of_their_own_below_it(say, hermes):
    first, second, whole = await say("from hermes_tools import note\nnote('a') + ', ' + note(path='b')")
    assert [one.call.name for one in (first, second, whole)] == ["note", "note", "execute_code"]
    assert text(whole) == "→ the note a, the note b"
    store = await hermes.runtime.store()
    rows = await store.history.tool_calls(hermes.runtime.owner, session_id="s")
    assert [(row.name, row.outcome) for row in reversed(rows)] == [
        ("execute_code", "ok"),
        ("note", "ok"),
        ("note", "ok"),
    ]


async def test_a_rule_that_forbids_a_tool_forbids_it_to_scripts(say, hermes):
    hermes.configure({"policy.deny": ["note"]})
    _, whole = await say("from hermes_tools import note\nnote('a')")
    assert "the rule 'note' in policy.deny forbids it" in text(whole)
    assert whole.result.failed


async def test_what_comes_from_outside_is_fenced_also_where_the_script_fails(say):
    *_, whole = await say("from hermes_tools import page\nprint(page('p'))\n1 / 0")
    assert whole.result.untrusted
    assert text(whole).startswith("<untrusted from='execute_code'>\nthe page p\n")
    assert "ZeroDivisionError" in text(whole)


async def test_its_own_words_are_not_fenced(say):
    (whole,) = await say("print('words')\n6 * 7")
    assert text(whole) == "words\n→ 42"
    assert not whole.result.untrusted
