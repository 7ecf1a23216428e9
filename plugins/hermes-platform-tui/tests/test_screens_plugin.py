"""A screen that a plugin brings: what is chosen, what its keys do, and what it cannot do to the terminal."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.hooks import hookimpl
from hermes_core.testing import Bench
from hermes_platform_tui.screens.columns import Columns
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.plugin import PluginScreen, ScreenPicker
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_tool_kit.screens import Card, Column

sys.path.insert(0, str(Path(__file__).parent))
from plugin_cases import Chores, House
from screens_cases import Host, drawn, ended, settled, until

from .stage import stage

pytestmark = pytest.mark.long


def chosen(app: Host) -> str:
    card = app.screen.query_one(Columns).card
    return card.id if card else ""


async def test_arrows_go_over_cards_and_empty_columns() -> None:
    app = Host(PluginScreen(Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert chosen(app) == "rice"
        steps = (("down", "日本"), ("end", "wash"), ("down", "wash"), ("right", ""), ("down", ""), ("right", "old 0"),
                 ("pagedown", "old 10"), ("end", "old 39"), ("home", "old 0"), ("up", "old 0"), ("right", "old 0"),
                 ("left", ""), ("left", "rice"), ("left", "rice"))  # fmt: skip
        for key, card in steps:
            await pilot.press(key)
            assert chosen(app) == card, key


async def test_what_is_chosen_is_in_sight_and_how_much_is_not() -> None:
    app = Host(PluginScreen(Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("right", "right", *["down"] * 20)
        await settled(pilot)
        told = drawn(app)
        assert "❯ Chore of day 20" in told
        assert "more" in told
        assert "43 chores" in told


async def test_a_card_goes_where_it_may() -> None:
    app = Host(PluginScreen(chores := Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("shift+left", "shift+right")  # over the column that it does not go to
        await settled(pilot)
        assert chores.columns[2].cards[0].id == "rice"
        assert chosen(app) == "rice"
        assert "rice is done now." in drawn(app)
        await pilot.press("shift+right")
        await settled(pilot)
        assert chores.columns[2].cards[0].id == "rice"


async def test_keys_do_ask_and_warn() -> None:
    app = Host(PluginScreen(chores := Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("d")
        await settled(pilot)
        assert chores.pressed == [("d", "rice", "")]
        assert "d rice" in drawn(app)
        await pilot.press("w")
        await settled(pilot)
        assert isinstance(app.screen, PromptDialog)
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("w", *"water", "enter")
        await settled(pilot)
        assert chores.pressed[1:] == [("w", "rice", "water")]
        await pilot.press("x")
        await settled(pilot)
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("enter")  # cancel is chosen first
        await settled(pilot)
        assert len(chores.pressed) == 2
        await pilot.press("x", "1")
        await settled(pilot)
        assert chores.pressed[2:] == [("x", "rice", "")]
        assert "! That one stays." in drawn(app)
        await pilot.press("right", "d")
        await settled(pilot)
        assert "Choose a card first." in drawn(app)
        await pilot.press("n", *"tea", "enter", "z")
        await settled(pilot)
        assert chores.pressed[3:] == [("n", "", "tea")]


async def test_it_goes_with_what_happens_and_stays_on_its_card() -> None:
    chores = Chores()
    app = Host(PluginScreen(chores))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await chores.move("rice", "done")
        await pilot.press("f5")
        await settled(pilot)
        assert chosen(app) == "rice"
        chores.columns.clear()
        await pilot.press("f5")
        await settled(pilot)
        assert "Nothing here." in drawn(app)
        await pilot.press("down", "enter", "shift+right", "d")
        chores.columns = [Column(id="a", title="A", cards=[Card(id="1", title="One")])]
        await pilot.press("f5")
        await settled(pilot)
        assert chosen(app) == "1"


async def test_it_looks_again_by_itself() -> None:
    chores = Chores()
    app = Host(PluginScreen(chores))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        chores.columns = [Column(id="a", title="A", cards=[Card(id="1", title="The newest")])]
        await until(pilot, lambda: "The newest" in drawn(app))


async def test_what_cannot_be_asked_is_said_and_the_picture_stays() -> None:
    chores = Chores()
    app = Host(PluginScreen(chores))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        chores.wrong = UserError("The store is not there.")
        await pilot.press("f5")
        await settled(pilot)
        assert "! The store is not there." in drawn(app)
        assert "Cook rice" in drawn(app)
        chores.wrong = None
        await pilot.press("f5")
        await settled(pilot)
        assert "The store is not there." not in drawn(app)


async def test_a_plugin_that_breaks_costs_its_own_screen(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Chores):
        async def picture(self) -> Any:
            raise ZeroDivisionError

    app = Host(PluginScreen(Broken()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "That went wrong in a way nobody expected." in drawn(app)
        await pilot.press("escape")
        await settled(pilot)
        assert app.result is None


async def test_all_about_a_card_and_the_keys_are_read_and_left() -> None:
    app = Host(screen := PluginScreen(Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key, words in (("enter", "All about rice."), ("question_mark", "move it to another column")):
            await pilot.press(key)
            await settled(pilot)
            assert words in drawn(app)
            await pilot.press("down", "up", "pagedown", "escape")
            await settled(pilot)
            assert app.screen is screen


async def test_nothing_of_a_plugin_reaches_the_terminal_as_an_order() -> None:
    app = Host(PluginScreen(Chores()))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        told = drawn(app)
        assert "[bold]x[/]" in told
        assert not [one for one in told if ord(one) < 32 and one != "\n"]
        await pilot.press("enter")
        await settled(pilot)
        assert not [one for one in drawn(app) if ord(one) < 32 and one != "\n"]


async def test_a_click_chooses_and_a_second_one_opens() -> None:
    app = Host(screen := PluginScreen(Chores()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.click(Columns, offset=(4, 5))
        assert chosen(app) == "wash"
        await pilot.click(Columns, offset=(4, 5))
        await settled(pilot)
        assert app.screen is not screen


@settings(max_examples=15, deadline=None)
@given(
    many=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    width=st.integers(20, 140),
    height=st.integers(8, 40),
    keys=st.lists(st.sampled_from(["left", "right", "up", "down", "end"]), max_size=12),
)
def test_at_every_size_the_chosen_is_in_sight(many: list[int], width: int, height: int, keys: list[str]) -> None:
    import asyncio

    class Many(Chores):
        async def picture(self) -> Any:
            from hermes_tool_kit.screens import Picture

            cards = [[Card(id=f"{x}.{y}", title=f"{x}.{y}", note="n") for y in range(n)] for x, n in enumerate(many)]
            return Picture(columns=[Column(id=str(x), title=f"c{x}", cards=there) for x, there in enumerate(cards)])

    async def look() -> None:
        app = Host(PluginScreen(Many()))
        async with app.run_test(size=(width, height)) as pilot:
            await settled(pilot)
            await pilot.press(*keys)
            await settled(pilot)
            card = app.screen.query_one(Columns).card
            assert card is None or f"❯ {card.title}" in drawn(app)

    asyncio.run(look())


async def test_one_of_several_screens_is_picked() -> None:
    given = {"house": [Chores()], "garden": [Chores()]}
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        picked = await ended(pilot, ScreenPicker(given), *"garden", "enter")
        assert picked is given["garden"][0]
        assert await ended(pilot, ScreenPicker({}), "enter", "escape") is None


async def test_a_command_of_two_words_opens_a_screen(hermes: Bench) -> None:
    @hookimpl
    def register_services(ctx: Any) -> list[House]:
        return [House()]

    hermes.tmp_plugin(register_services, manifest={"contributes": {"services": ["house"]}})
    async with stage(hermes) as it:
        await it.until(lambda: it.app.prepared)
        await it.type("/house chores", "enter")
        await it.until(lambda: isinstance(it.app.screen, PluginScreen))
        await it.press("escape")
        await it.until(lambda: len(it.app.screen_stack) == 1)
        for words in ("/house nothing", "/nothing chores", "/house chores now", "/house ../x"):
            assert not it.app.overlays.opens(words, lambda: None)
        await it.press("f8")
        await it.until(lambda: isinstance(it.app.screen, ScreenPicker))
        await it.press("enter")
        await it.until(lambda: isinstance(it.app.screen, PluginScreen))
