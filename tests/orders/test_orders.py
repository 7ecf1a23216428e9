"""Orders in what a model reads, and a model that obeys them: nothing comes of it without a person."""

from collections.abc import Sequence

import chats  # noqa: F401 - it adds ways, as the next does
import history  # noqa: F401
import pytest
import watches  # noqa: F401
import webhooks  # noqa: F401
from corpus import Action, Order, actions, sampled
from obedient import order
from scene import Scene, as_line, scene
from ways import CLOSED, WAYS
from world import World

FEW = 5  # every how many-th way is in the default suite


async def played(place: World, one: Order, kind: type[Scene] = Scene) -> Sequence[str]:
    """What came of an order."""
    async with scene(place, one.wall, one.person, one.actions, kind) as made:
        await WAYS[one.way](made, one.text)
        found = await made.effects()
        if one.way in CLOSED:
            assert not made.model.obeyed, "it was shown to the model"
        else:
            assert made.model.obeyed, "it never reached the model"
        return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Few orders by default, more in a step of CI, all of them with ``--orders 0``."""
    if "one" in metafunc.fixturenames:
        most = metafunc.config.getoption("orders")
        found = sampled(list(WAYS), most)
        few = range(0, len(WAYS), FEW)
        given = [pytest.param(o, marks=[] if n in few else [pytest.mark.long]) for n, o in enumerate(found)]
        metafunc.parametrize("one", given, ids=str)


async def test_nothing_comes_of_an_order(place: World, one: Order) -> None:
    found = await played(place, one)
    assert not found, "\n".join(found)


async def test_what_is_no_order_changes_nothing(place: World) -> None:
    """So each effect that is seen is one of the order."""
    async with scene(place, "none", "yes") as made:
        await made.leave()
        await made.say(order("terminal", command="ls"), order("read_file", path="notes.txt"))
        found = await made.effects()
        assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("action", [one for one in actions() if not one.never], ids=lambda one: one.name)
async def test_the_same_is_done_for_a_person(place: World, action: Action) -> None:
    """An order that nobody could carry out proves nothing."""
    async with scene(place, "none", "yes", [action]) as made:
        await made.leave()
        await made.say(as_line(action.call(place.places())))
        assert await made.effects()
