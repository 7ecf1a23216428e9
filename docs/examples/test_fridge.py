"""The fridge keeps what every screen promises, and what its own keys do is tested without a terminal."""

import fridge as plugin
import pytest

from hermes_core.testing import FakeDocuments
from hermes_tool_kit.screens_contract import ScreensContract


class Context:
    def __init__(self):
        self.documents = FakeDocuments()


class TestFridge(ScreensContract):
    @pytest.fixture
    async def service(self):
        ctx = Context()
        await ctx.documents.put("milk", "top")
        (fridge,) = plugin.register_services(ctx)
        return fridge


async def test_what_is_bought_is_moved_and_eaten():
    shelves = plugin.Shelves(Context())
    assert await shelves.press("b", "", "cheese") == "There is cheese now."
    assert await shelves.move("cheese", "bottom") == "cheese is on the bottom shelf."
    *_, bottom = (await shelves.picture()).columns
    assert [card.title for card in bottom.cards] == ["cheese"]
    await shelves.press("e", "cheese")
    assert not any(column.cards for column in (await shelves.picture()).columns)
