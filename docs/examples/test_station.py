"""The setup step of the station keeps its contract."""

import pytest
import station

from hermes_core.errors import UserError


async def test_a_key_is_tested():
    (step,) = station.register_setup()
    assert await step.test({"place": "Oslo", "key": "12345"}) == "The station in Oslo answers."
    with pytest.raises(UserError, match="does not know this key"):
        await step.test({"place": "Oslo", "key": "1"})
