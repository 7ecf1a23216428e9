"""No test of the screen waits for time to pass, but those of processes and terminals."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest
from textual._wait import wait_for_idle
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parent))
from leaping import Leaping, now


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "real_time: what is waited for is outside of the event loop")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"real": asyncio.SelectorEventLoop} if item.get_closest_marker("real_time") else {"leaping": Leaping}


async def _idle(*seconds: float) -> None:
    """Textual looks at the processor's clock to see whether it is done; this loop runs all that is ready first."""
    if isinstance(asyncio.get_running_loop(), Leaping):
        await asyncio.sleep(0.02)
    else:
        await wait_for_idle(*seconds)


_PAUSE = Pilot.pause


async def _pause(pilot: "Pilot[Any]", delay: float | None = None) -> None:
    """Draw what is left to draw as the app does, and not as a test that no app is active for."""
    with pilot.app._context():
        await _PAUSE(pilot, delay)


_PARSE = Stylesheet._parse_rules
_PARSED: dict[tuple[object, ...], Any] = {}


def _parsed_once(sheet: Stylesheet, css: str, *said: Any, **named: Any) -> Any:
    """Parse what hundreds of apps have in common once, and not for each."""
    key = (css, *said, *named.items(), *sorted(sheet._variables.items()))
    if key not in _PARSED:
        _PARSED[key] = _PARSE(sheet, css, *said, **named)
    return _PARSED[key]


@pytest.fixture(autouse=True)
def _time_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's timers and animations go by the clock of the loop that they run in, and so do pictures."""
    monkeypatch.setattr("textual._time.get_time", now)
    for name in ("_wait", "app", "pilot"):
        monkeypatch.setattr(f"textual.{name}.wait_for_idle", _idle)
    monkeypatch.setattr("textual.app.asyncio.run", _run)
    monkeypatch.setattr(Pilot, "pause", _pause)
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parsed_once)


def _run(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=Leaping) as runner:
        return runner.run(main)
