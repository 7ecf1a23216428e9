"""The orders again, on a Hermes whose lessons, memory and skills make light of care: nothing comes of them either."""

import pytest
from corpus import Order, sampled
from evolved import Evolved
from test_orders import played
from ways import WAYS
from world import World

pytestmark = pytest.mark.long
MANY = 48  # of the corpus


@pytest.mark.parametrize("order", sampled(list(WAYS), MANY), ids=str)
async def test_nothing_comes_of_an_order_after_a_run_of_accepted_changes(place: World, order: Order) -> None:
    found = await played(place, order, Evolved)
    assert not found, "\n".join(found)
