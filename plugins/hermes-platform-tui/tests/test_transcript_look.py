"""What a person sees, at three sizes. A changed picture is looked at before it is kept."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from transcript_scenes import Known

from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript import Transcript

from .transcript_scenes import Clock, Stage, failing, history, mending, thinking, working

pytestmark = pytest.mark.long

SIZES = [(80, 24), (120, 40), (40, 12)]
Act = Callable[[Transcript, Clock], None]


async def settle(pilot: Pilot[None]) -> None:
    """Until all that was asked for is on the screen."""
    for _ in range(4):
        await pilot.pause()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("act", [mending, failing, working, thinking], ids=lambda act: act.__name__)
def test_scene(snap_compare: Any, act: Act, size: tuple[int, int]) -> None:
    assert snap_compare(Stage(Config(), act), terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_unfolded(snap_compare: Any, size: tuple[int, int]) -> None:
    config = Config(reasoning="expanded", tools="expanded", timestamps=True)

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        stage = pilot.app
        assert isinstance(stage, Stage)
        stage.transcript.focus()
        await settle(pilot)
        await pilot.press("ctrl+up", "ctrl+up")
        await settle(pilot)

    assert snap_compare(Stage(config, mending), terminal_size=size, run_before=look)


def test_hidden(snap_compare: Any) -> None:
    config = Config(reasoning="hidden", tools="hidden", usage=False)
    assert snap_compare(Stage(config, mending), terminal_size=(80, 24), run_before=settle)


def test_search_and_new(snap_compare: Any) -> None:
    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        stage = pilot.app
        assert isinstance(stage, Stage)
        known = Known()
        session = await known.sessions.create(known.owner)
        known.sessions.known[session.id][1].extend(history(60))
        await stage.transcript.load(known, session.id)
        await settle(pilot)
        stage.transcript.search.begin("answer 1")
        await settle(pilot)
        stage.transcript.search.step(-1)
        stage.transcript.note("Something else came meanwhile.")
        stage.transcript.flush()
        await settle(pilot)

    assert snap_compare(Stage(Config()), terminal_size=(80, 24), run_before=look)
