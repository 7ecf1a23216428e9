"""What a person spends over random places never passes their day by more than one call's estimate."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from speaking import PLACES, House, Vendor

from hermes_core.testing.bench import Bench
from hermes_core.types import Principal


async def spent(house: House, *people: str) -> float:
    store = await house.hermes.runtime.store()
    found = [(await store.spending.spent(Principal(person=name))).usage for name in people]
    return sum(usage.input + usage.output for usage in found)


@pytest.mark.parametrize("seed", range(6))
async def test_a_day_of_tokens_is_kept_over_random_places(hermes: Any, seed: int) -> None:
    chance = random.Random(seed)
    limit, house = chance.randrange(150, 600), House(hermes)
    house.vendor.cost = lambda: chance.randrange(20, 60)
    hermes.configure(
        {
            "roles.people": {"ann": "some"},
            "roles.define": {"some": {"day": {"tokens": limit}}},
        }
    )
    await house.say("group", "ann", "hello", chat="own")  # she opened it
    for _ in range(6):
        together = []
        for who in chance.choices(["ann", "ann", "stranger1", "stranger2"], k=chance.randrange(1, 6)):
            hers = who == "ann"
            place = chance.choice(PLACES if hers else ("group", "thread"))
            chat = chance.choice(["own", "a", "b"]) if hers else "own"
            together.append(house.say(place, who, "hello", named=hers, chat=chat))
        await asyncio.gather(*together)
    used = await spent(house, "ann", "stranger1", "stranger2")
    assert used == sum(house.vendor.costs), "everything is booked to who asked"
    assert used <= limit + max(house.vendor.costs)
    _, failed = await house.say("direct", "ann", "hello")
    if used + min(house.vendor.costs) > limit:
        assert "in all places" in failed


async def test_many_at_once_do_not_all_spend_the_same_rest(house: House) -> None:
    house.hermes.configure({"roles.people": {"ann": "some"}, "roles.define": {"some": {"day": {"money": 0.5}}}})
    places = [PLACES[number % len(PLACES)] for number in range(30)]
    said = await asyncio.gather(
        *(house.say(place, "ann", "hello", chat=str(number)) for number, place in enumerate(places))
    )
    assert len(house.vendor.costs) == 5, "ten cents each"
    assert sum(1 for _, failed in said if "$0.5000 of $0.5" in failed) >= 25


async def test_a_call_that_a_death_left_under_way_counts_until_it_is_over(hermes: Any, tmp_path: Path) -> None:
    """The process that dies is played by one that is stopped in the middle of its call, and never says so."""
    settings = {"roles.people": {"ann": "some"}, "roles.define": {"some": {"day": {"calls": 2}}}}
    first, hold = House(hermes), asyncio.Event()
    hermes.configure(settings)

    class Held(Vendor):
        name = "vendor"

        async def stream(self, request: Any) -> Any:
            self.answered.append(request.model)
            await hold.wait()
            async for delta in Vendor.stream(self, request):
                yield delta

    held = Held()
    first.vendor.stream = held.stream  # type: ignore[method-assign]
    dying = asyncio.create_task(first.say("direct", "ann", "hello"))
    while not held.answered:
        await asyncio.sleep(0.01)
    again = Bench(tmp_path / "home")
    second = House(again)
    second.number = 100  # no message of the first came again
    again.configure(settings)
    async with again:
        assert (await second.say("group", "ann", "hello"))[1] == "", "one of two is under way, so there is one more"
        waits = asyncio.create_task(second.say("thread", "ann", "hello"))
        await asyncio.sleep(0.2)
        assert not waits.done(), "the other may be used up by the call that is under way in another process"
        hold.set()
        await dying
        assert "2 of 2 model calls" in (await waits)[1]
