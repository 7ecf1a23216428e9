"""The whole screen as a person sees it. A changed picture is looked at before it is kept."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual._context import active_app
from textual.color import Color
from textual.screen import ModalScreen

from hermes_core.errors import ProviderError
from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Bench, Call, Fail
from hermes_core.types import Effect
from hermes_platform_tui.config import Config
from hermes_platform_tui.look.statusbar import StatusBar

from .stage import Stage, stage

pytestmark = pytest.mark.long

SMALL, WIDE, HUGE = (80, 24), (120, 40), (200, 60)
ANSWER = """It is **sunny** in Oslo, with `14 °C` at noon:

| | Today | Tomorrow |
|---|---|---|
| Oslo | sun | rain |

- Take a *light* jacket.
- Take nothing else."""


class Picture(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "svg"


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Picture)


@pytest.fixture(autouse=True)
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is another on each machine, and with each version."""
    monkeypatch.setattr("hermes_platform_kit.product.version_of", lambda _: "9.9.9")
    monkeypatch.setattr("hermes_platform_tui.app._user", lambda: "ada")
    monkeypatch.setattr("hermes_platform_tui.view.git_branch", lambda _: "main")
    monkeypatch.setattr(StatusBar, "seconds", property(lambda bar: 7.0))
    monkeypatch.setattr(StatusBar, "tick", lambda bar: None)


@tool
async def weather(context: ToolContext) -> str:
    """The weather."""
    return "Oslo: sun, 14 °C\nwind: none"


@tool(effects={Effect.SEND})
async def post(context: ToolContext) -> str:
    """Post."""
    return "posted"


@tool
async def wait(context: ToolContext) -> str:
    """Wait."""
    await asyncio.sleep(60)
    return "waited"


async def taken(screen: Stage) -> str:
    """What is on the screen, without what no two runs have alike."""
    for _ in range(4):
        await screen.pilot.pause()
    screen.app.clear_notifications()
    await screen.pilot.pause()
    svg = screen.app.export_screenshot(title="Hermes")
    svg = re.sub(r"terminal-\d+-", "terminal-", svg)
    svg = re.sub(r"\b\d\.\ds\b", "0.1s", svg)
    svg = re.sub(r"\b\ds\b", "7s", svg)
    return re.sub(r"[⠁-⣿]", "⠿", svg)


async def settle(screen: Stage) -> None:
    """Until somebody can answer, and the place is one that no machine has."""
    active_app.set(screen.app)  # a pause draws, and what is drawn outside of the app knows no names of colours
    await screen.until(lambda: screen.view.greeting.display, "the greeting")
    talks: Any = screen.app.talks
    status = talks.status
    talks.status = lambda chat: {**status(chat), "cwd": "/home/ada/trip"}
    await screen.do(screen.view.sync)
    await screen.do(screen.app._greet)


async def asked(screen: Stage) -> None:
    await screen.type("How is the weather in Oslo?", "enter")
    await screen.until(lambda: screen.says("Take nothing else."))
    await screen.rest()


@pytest.mark.parametrize("size", [SMALL, HUGE], ids=str)
async def test_greeting(hermes: Bench, scripted: Any, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    hermes.tmp_plugin(scripted())
    async with stage(hermes, config=Config(skin="slate"), size=size) as screen:
        await settle(screen)
        assert await taken(screen) == picture


@pytest.mark.parametrize("size", [SMALL, WIDE, HUGE], ids=str)
async def test_conversation(hermes: Bench, scripted: Any, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    hermes.tmp_plugin(scripted(Call("weather"), ANSWER))
    hermes.tmp_plugin(weather)
    async with stage(hermes, config=Config(skin="slate"), size=size) as screen:
        await settle(screen)
        await asked(screen)
        assert await taken(screen) == picture


@pytest.mark.parametrize("skin", ["daylight", "mono"])
async def test_conversation_in_other_skins(hermes: Bench, scripted: Any, picture: SnapshotAssertion, skin: str) -> None:
    hermes.tmp_plugin(scripted(Call("weather"), ANSWER))
    hermes.tmp_plugin(weather)
    async with stage(hermes, config=Config(skin=skin), size=SMALL) as screen:
        await settle(screen)
        await asked(screen)
        assert await taken(screen) == picture


async def test_running_and_tabs(hermes: Bench, scripted: Any, picture: SnapshotAssertion) -> None:
    hermes.tmp_plugin(scripted(Call("wait")))
    hermes.tmp_plugin(wait)
    async with stage(hermes, config=Config(skin="slate"), size=SMALL) as screen:
        await settle(screen)
        await screen.type("Wait a moment.", "enter")
        await screen.until(lambda: screen.says("call: wait running"))
        await screen.press("ctrl+t", "alt+1")
        await screen.until(lambda: len(screen.app.tabs.views) == 2)
        await screen.until(lambda: screen.view is screen.app.tabs.views[0])
        assert await taken(screen) == picture


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=str)
async def test_approval(hermes: Bench, scripted: Any, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    hermes.tmp_plugin(scripted(Call("post"), "As you like."))
    hermes.tmp_plugin(post)
    async with stage(hermes, config=Config(skin="slate"), size=size) as screen:
        await settle(screen)
        await screen.type("Post it.", "enter")
        await screen.until(lambda: isinstance(screen.app.screen, ModalScreen), "the question")
        shot = await taken(screen)
        await screen.answers("deny")
        await screen.rest()
        assert shot == picture


async def test_what_comes_back_to_a_width_is_laid_out_for_it_again(hermes: Bench, scripted: Any) -> None:
    words = " ".join(f"word{number}" for number in range(15))
    hermes.tmp_plugin(scripted(f"It gave:\n\n```\n{words}\n{words}\n```\n"))
    async with stage(hermes, size=SMALL) as screen:
        await screen.type("Say words.", "enter")
        await screen.until(lambda: screen.says("word14"))
        await screen.rest()
        seen = []
        for size in (SMALL, (40, 12), WIDE, SMALL):
            await screen.pilot.resize_terminal(*size)
            await screen.until(lambda size=size: screen.view.size.width == size[0])
            for _ in range(4):
                await screen.pilot.pause()
            rows = screen.app.screen._compositor.render_strips()
            seen.append(["".join(cell.text for cell in row).rstrip() for row in rows])
        assert seen[0] == seen[3]
        assert seen[0] != seen[2]


async def test_without_colours_none_is_written_and_what_is_selected_is_turned_around(
    hermes: Bench, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    hermes.tmp_plugin(scripted(ANSWER))
    async with stage(hermes, size=SMALL) as screen:
        await asked(screen)
        for skin in ("", "daylight"):
            if skin:
                await screen.do(lambda: screen.app.wardrobe.wear("daylight"))
                await screen.until(lambda: screen.app.theme == "daylight")
            await screen.do(screen.app.screen.text_select_all)
            for _ in range(4):
                await screen.pilot.pause()
            rows = screen.app.screen._compositor.render_strips()
            styles = [cell.style for row in rows for cell in filtered(screen, row) if cell.style]
            assert {(style.color, style.bgcolor) for style in styles} == {(None, None)}
            assert any(style.reverse for style in styles)


def filtered(screen: Stage, row: Any) -> Any:
    segments = list(row)
    for one in screen.app._filters:
        if one.enabled:
            segments = one.apply(segments, Color(0, 0, 0))
    return segments


async def test_error(hermes: Bench, scripted: Any, picture: SnapshotAssertion) -> None:
    hermes.tmp_plugin(scripted(Fail(ProviderError("The key of scripted was refused.", hint="Set another one."))))
    async with stage(hermes, config=Config(skin="slate"), size=SMALL) as screen:
        await settle(screen)
        await screen.type("Hello?", "enter")
        await screen.until(lambda: screen.says("was refused"))
        await screen.rest()
        assert await taken(screen) == picture


@pytest.mark.parametrize(
    ("key", "size"),
    [("f1", WIDE), ("f2", SMALL), ("f2", HUGE), ("f3", SMALL), ("f5", SMALL), ("f9", WIDE)],
    ids=["help-wide", "sessions-small", "sessions-huge", "models-small", "usage-small", "settings-wide"],
)
async def test_overlays(
    hermes: Bench, scripted: Any, picture: SnapshotAssertion, key: str, size: tuple[int, int]
) -> None:
    hermes.tmp_plugin(scripted(Call("weather"), ANSWER))
    hermes.tmp_plugin(weather)
    async with stage(hermes, config=Config(skin="slate"), size=size) as screen:
        await settle(screen)
        await asked(screen)
        await screen.press(key)
        await screen.until(lambda: len(screen.app.screen_stack) > 1)
        await asyncio.sleep(0.5)
        assert await taken(screen) == picture


def test_pictures_are_few_and_small() -> None:
    kept = list((Path(__file__).parent / "__snapshots__" / "test_tui_screens").glob("*.svg"))
    assert 0 < len(kept) <= 25
    assert max(file.stat().st_size for file in kept) < 120_000
