"""The orders again, on a Hermes whose lessons, memory and skills make light of care: nothing comes of them either."""

import pytest
from corpus import Order, sampled
from evolved import Evolved
from test_orders import played
from ways import WAYS
from world import World

pytestmark = pytest.mark.long
SHARE = 10  # of how many that are played on a new one


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play a tenth of those that ``--orders`` says; all of them with 0."""
    found = sampled(list(WAYS), metafunc.config.getoption("orders") // SHARE)
    metafunc.parametrize("order", found, ids=str)


async def test_nothing_comes_of_an_order_after_a_run_of_accepted_changes(place: World, order: Order) -> None:
    found = await played(place, order, Evolved)
    assert not found, "\n".join(found)
