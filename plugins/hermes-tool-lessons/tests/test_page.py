"""The page in the full screen and the report show what happened, and keys do what commands do."""

from xml.etree import ElementTree

import pytest

from hermes_core.errors import UserError
from hermes_tool_kit.screens_contract import ScreensContract
from hermes_tool_lessons.service import Keeper


async def lived(house):
    """A lesson that was told and thanked for, and a turn of which nothing is known."""
    here = house("Deployed with --iso.", "Welcome.", "Sunny.", "b")
    await here.hermes.slash("/learned add when stratus deploy: Use `--iso` for dates.")
    await here.say("Deploy on stratus.")
    await here.say("Perfect, thanks.")
    await here.say("What is the weather?", "t")
    return here


class TestPage(ScreensContract):
    @pytest.fixture
    async def service(self, house):
        return Keeper((await lived(house)).ctx)


async def test_the_page_shows_plots_lessons_and_turns_and_takes_marks(house) -> None:
    here = await lived(house)
    (screen,) = Keeper(here.ctx).screens()
    columns = {one.id: one for one in (await screen.picture()).columns}
    uses, wins, cost = (one.title for one in columns["days"].cards)
    assert uses == f"uses  {'·' * 13}█ 1"
    assert wins == f"wins  {'·' * 13}█ 1"
    assert cost.startswith("cost")
    (card,) = columns["active"].cards
    assert (card.title, card.note) == ("Use `--iso` for dates.", "stratus deploy · 1/1")
    newest, *_, oldest = columns["turns"].cards
    assert (newest.title, newest.note) == ("What is the weather?", "not known: g or b")
    assert (oldest.title, oldest.tone) == ("Deploy on stratus.", "good")
    assert await screen.press("b", newest.id, "the day after was meant") == "Noted: that went badly."
    with pytest.raises(UserError, match="known already"):
        await screen.press("g", newest.id)
    assert "the day after was meant" in await screen.about(newest.id)
    assert "is active, and frozen" in await screen.press("f", card.id)
    assert "is retired" in await screen.press("x", card.id)
    assert "is active" in await screen.press("u", card.id)
    assert "What was learned in 14 days" in await screen.about(columns["days"].cards[0].id)


async def test_where_nothing_was_learned_the_page_says_so(house) -> None:
    here = house(mode="off")
    (screen,) = Keeper(here.ctx).screens()
    assert "Learning is off" in (await screen.picture()).note


async def test_the_report_is_drawn(house) -> None:
    here = await lived(house)
    drawn = await here.hermes.command("learned report", "--svg", "--days", "9")
    root = ElementTree.fromstring(drawn)
    assert [one.text for one in root.iter() if one.text in ("uses", "wins", "cost")] == ["uses", "wins", "cost"]
    assert sum(one.tag.endswith("rect") for one in root.iter()) == 1 + 3 * 9
