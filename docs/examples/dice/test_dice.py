"""What the dice do beyond the contract."""

import pytest
from hermes_tool_dice import Dice, roll

from hermes_core.testing import Call, FakeToolContext, FakeWorkspace


@pytest.mark.parametrize("count", [1, 5, 100])
async def test_the_sum_is_of_the_dice_that_were_rolled(count):
    said = await roll.run(FakeToolContext(FakeWorkspace()), Dice(sides=6, count=count))
    rolled, total = said.split(" = ")
    assert len(rolled.split(" + ")) == count
    assert sum(map(int, rolled.split(" + "))) == int(total)


async def test_a_model_can_roll(hermes, scripted):
    model = scripted(Call("roll", {"sides": 2}), "Heads.")
    hermes.tmp_plugin("hermes_tool_dice")
    hermes.tmp_plugin(model)
    answer = await hermes.run("Toss a coin.")
    assert answer.text == "Heads."
    (result,) = model.requests[1].messages[-1].parts
    assert result.parts[0].text in ("1 = 1", "2 = 2")
