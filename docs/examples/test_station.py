"""The setup step of the station keeps its contract."""

import pytest
import station

from hermes_core.errors import UserError
from hermes_core.testing import SetupContract


class TestStation(SetupContract):
    module = "station"

    @pytest.fixture
    def good(self):
        return {"place": "Oslo", "key": "12345"}

    @pytest.fixture
    def wrong(self):
        return {"place": "Oslo", "key": "1"}

    @pytest.fixture
    def elsewhere(self):
        return lambda prompt: "12345"  # what the display says after prompt.code was typed there


async def test_a_key_is_tested():
    (step,) = station.register_setup()
    assert await step.test({"place": "Oslo", "key": "12345"}) == "The station in Oslo answers."
    with pytest.raises(UserError, match="does not know this key"):
        await step.test({"place": "Oslo", "key": "1"})
