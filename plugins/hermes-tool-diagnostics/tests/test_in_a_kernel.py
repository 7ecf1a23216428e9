"""Diagnostics in a turn: below what the file tools say, before the turn ends, and among what runs beside it."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Event, Noticed, Returned

from .conftest import speaking

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


def speakers(work: Path) -> set[int]:
    """The language servers that run for a folder."""
    found = set[int]()
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"speaking.py" in (path / "cmdline").read_bytes() and (path / "cwd").readlink() == work:
                found.add(int(path.name))
    return found


async def test_one_server_of_a_folder_lives_from_turn_to_turn_and_ends_with_its_session(
    hermes: Any, scripted: Any, tmp_path: Path
) -> None:
    work = tmp_path / "place"
    work.mkdir()
    (work / "say.toml").touch()
    row = speaking("push")["speaking"]
    steps = list[Any]()
    for word in ("one", "two"):  # below the second result stands what a machine at work has come late
        steps += [Call("write_file", {"path": f"{word}.say", "content": f"bad {word}\n"})]
        steps += [Call("write_file", {"path": f"{word}.txt", "content": "x"}), "Done."]
    hermes.tmp_plugin(scripted(*steps))
    for plugin in ("hermes_tool_files", "hermes_tool_diagnostics", "hermes_backend_local"):
        hermes.tmp_plugin(plugin)
    more = {"speaking": {"command": list(row.command), "files": dict(row.files), "roots": list(row.roots)}}
    hermes.configure({"policy.mode": "off", "terminal.backend": "local", "terminal.cwd": str(work)})
    hermes.configure({"tools.diagnostics": {"servers": "always", "seconds": 4.0, "more": more}})
    hermes.configure({"backends.local.wall": "none"})
    seen = []
    for word in ("one", "two"):
        told = results([event async for event in hermes.turn("go", session="s")])
        assert f"no bad {word} here" in "".join(told)
        seen.append(speakers(work))
    assert len(seen[0]) == 1
    assert seen[0] == seen[1], "the second turn asked the server of the first"
    await hermes.close()
    async with asyncio.timeout(20):
        while speakers(work):
            await asyncio.sleep(0.05)
