"""Diagnostics in a turn: below what the file tools say, before the turn ends, and among what runs beside it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Event, Noticed, Returned

BROKEN = Call("write_file", {"path": "a.py", "content": "def f(:\n"})
WHOLE = Call("edit_file", {"path": "a.py", "old": "f(:", "new": "f():\n    return 1"})


@pytest.fixture
def play(hermes: Any, tmp_path: Path) -> Callable:
    """Plays a turn of these steps; its events."""
    work = tmp_path / "place"
    work.mkdir()

    async def play(*steps: Any, **settings: Any) -> Sequence[Event]:
        provider = ScriptedProvider(list(steps))
        for plugin in (provider, "hermes_tool_files", "hermes_tool_diagnostics", "hermes_backend_local"):
            hermes.tmp_plugin(plugin)
        named = {f"tools.diagnostics.{key}": value for key, value in settings.items()}
        hermes.configure({"policy.mode": "off", "terminal.backend": "local", "terminal.cwd": str(work), **named})
        hermes.configure({"backends.local.wall": "none"})
        return [event async for event in hermes.runtime.turns.run("go", session="s")]

    return play


def results(events: Sequence[Event]) -> list[str]:
    return ["".join(part.text for part in e.result.parts) for e in events if isinstance(e, Returned)]


async def test_a_result_says_what_is_new(play: Callable) -> None:
    first, second = results(await play(BROKEN, WHOLE, "done"))
    assert "New problems in a.py:\n  1:7 error: invalid syntax (Python 3." in first
    assert "problems" not in second


async def test_a_turns_end_names_what_changed(play: Callable) -> None:
    missing = Call("edit_file", {"path": "b.py", "old": "x", "new": "y"})
    events = await play(BROKEN, missing, "done", footer="always")
    said = [event.text for event in events if isinstance(event, Noticed)]
    assert said == ["Changed: a.py. Not changed: b.py (edit_file failed)."]


async def test_what_was_run_after_a_change_is_its_check(hermes: Any, play: Callable) -> None:
    hermes.tmp_plugin("hermes_tool_terminal")
    ran = Call("terminal", {"command": "true"})
    events = await play(BROKEN, WHOLE, ran, "done", check="always", footer="never", servers="never")
    assert [event for event in events if isinstance(event, Noticed)] == []


async def test_a_turn_is_sent_on_to_check_once(play: Callable) -> None:
    events = await play(BROKEN, "done", "it is a draft", check="always", footer="never")
    said = [event.text for event in events if isinstance(event, Noticed)]
    assert len(said) == 1
    assert "a.py changed, and nothing was run since" in said[0]
    assert "1:7 error: invalid syntax" in said[0]
