"""The screen in a turn: what it shows is outside text, and no mode clicks without a person."""

import pytest

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Blob, Question, Returned, Text, Verdict

from .screens import Program, x_server

pytestmark = [pytest.mark.real, pytest.mark.timeout(120), pytest.mark.usefixtures("x11")]
CLICK = Call("computer_act", {"action": "click", "x": 150, "y": 160})


@pytest.fixture
def person(monkeypatch):
    """A screen of the person's."""
    with x_server() as display:
        monkeypatch.setenv("DISPLAY", display)
        for name in ("WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XAUTHORITY"):
            monkeypatch.delenv(name, raising=False)
        yield display


async def _play(hermes, ask):
    hermes.tmp_plugin(ScriptedProvider([Call("computer_screen", {}), CLICK, CLICK, "done"]))
    hermes.tmp_plugin("hermes_tool_computer")
    hermes.configure({"policy.mode": "off"})
    events = [event async for event in hermes.runtime.turns.run("Click on the papers.", session="s", ask=ask)]
    return [event.result for event in events if isinstance(event, Returned)]


def _text(result):
    return "".join(part.text for part in result.parts if isinstance(part, Text))


async def test_it_looks_without_a_person_and_clicks_with_one_only(hermes, person, tmp_path):
    with Program(tmp_path, "Papers") as program:
        await program.until("ready")
        looked, clicked, _ = await _play(hermes, None)
        assert looked.untrusted
        assert "Papers, 400 x 300 at 100,100" in _text(looked)
        assert [part.media_type for part in looked.parts if isinstance(part, Blob)] == ["image/png"]
        assert clicked.failed
        assert "needs a person's yes, and nobody is here" in _text(clicked)
        assert program.lines() == ["ready"]


async def test_a_person_is_asked_what_and_where_once_for_the_conversation(hermes, person, tmp_path):
    asked = list[Question]()

    async def ask(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="session", by="Anna")

    with Program(tmp_path, "Papers") as program:
        await program.until("ready")
        results = await _play(hermes, ask)
        assert not any(result.failed for result in results), [_text(one) for one in results]
        await program.until("click 50 60")
    (question,) = asked
    assert question.subject == "clicks at 150,160 in “Papers”"
    assert "text from outside" in question.risk


async def test_a_screen_of_its_own_is_opened_looked_at_and_clicked_on(hermes):
    """A tool may begin what it declares and no more: so it is tried in a whole turn, and not on a bare place alone."""
    hermes.tmp_plugin("hermes_backend_local")
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(hermes.workspace.cwd)})
    hermes.configure({"tools.computer.display": "own"})

    async def ask(question):
        return Verdict(outcome="allow", choice="session", by="Anna")

    results = await _play(hermes, ask)
    assert len(results) == 3
    assert not any(result.failed for result in results), [_text(one) for one in results]
    assert "own screen" in _text(results[0])
