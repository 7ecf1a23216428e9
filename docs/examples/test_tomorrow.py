"""A limit of the day, and the day after: a test turns the clock."""

import pytest

from hermes_core.errors import BudgetReached


async def test_tomorrow_is_another_day(hermes, scripted, clock):
    hermes.tmp_plugin("hermes_tool_budgets")
    hermes.configure({"budget.day.calls": 1})
    hermes.tmp_plugin(scripted("Once.", "Again."))
    assert (await hermes.run("Hello")).text == "Once."
    with pytest.raises(BudgetReached):
        await hermes.run("Hello")
    clock.turn(days=1)
    assert (await hermes.run("Hello")).text == "Again."
