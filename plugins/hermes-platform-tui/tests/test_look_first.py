"""The first frame: what is on it looks as it would with all styles made anew."""

from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from hermes_core.testing import Bench
from hermes_platform_tui.look.first import FirstScreen

from .stage import stage


def styles(screen: Screen[Any]) -> list[tuple[str, dict[str, object]]]:
    return [(repr(node), {**node.styles.get_rules()}) for node in (screen, *screen.query("*"))]


async def test_all_has_the_styles_that_it_would_have_made_anew(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    async with stage(hermes) as scene:
        screen = scene.app.screen
        assert isinstance(screen, FirstScreen)
        before: list[Any] = []
        after: list[Any] = []

        def anew() -> None:  # at once, as what comes after the first frame changes some
            before.extend(styles(screen))
            screen.update_node_styles(animate=False)
            after.extend(styles(screen))

        await scene.do(anew)
        assert after == before
        assert len(before) > 10


@pytest.mark.parametrize("changes", ["theme", "class"])
async def test_what_changes_is_heeded(changes: str) -> None:
    class Small(App[None]):
        CSS = "Static { color: $primary; } .strange Static { color: red; }"

        def get_default_screen(self) -> FirstScreen:
            return FirstScreen(id="_default")

        def compose(self) -> ComposeResult:
            with Vertical():
                yield Static("x")

        def on_mount(self) -> None:  # before the first frame
            if changes == "theme":
                self.theme = "dracula"
            else:
                self.screen.add_class("strange")

    async with Small().run_test() as pilot:
        await pilot.pause()
        wanted = pilot.app.theme_variables["primary"] if changes == "theme" else "#ff0000"
        assert pilot.app.query_one(Static).styles.color.hex.lower() == wanted.lower()
