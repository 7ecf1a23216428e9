"""What a job does when its time has come, in a real kernel with a scripted model."""

import pytest

from hermes_core.testing import Call, Fail, ScriptedProvider
from hermes_tool_cron.actions import Door, create
from hermes_tool_cron.playing import jobs_of
from hermes_tool_cron.rows import Jobs
from hermes_tool_cron.ticker import Ticker
from hermes_tool_cron.values import Options

START = 1_767_225_600.0  # 2026-01-01 00:00 UTC


class Time:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def house(hermes, clock):
    """A kernel with schedules, and what its scripted model was asked."""

    def make(*steps, **settings):
        model = ScriptedProvider(steps)
        hermes.tmp_plugin(model)
        hermes.tmp_plugin("hermes_tool_cron")
        hermes.configure({"cron.zone": "UTC", **settings})
        hermes.runtime.loader.load_contributing("services")
        ctx = hermes.context("hermes_tool_cron")
        ctx.state["jobs"] = Jobs(ctx.store, clock)
        return ctx, model

    return make


def door(ctx, *, written=True):
    return Door(ctx, ctx.owner, written=written)


async def played(ctx):
    """Look at the clock once, and wait until all is played."""
    ticker = Ticker(ctx)
    looked = await ticker.once()
    await ticker.rest()
    return looked


async def test_a_prompt_is_answered_at_its_time(house, clock):
    ctx, model = house("It is cold.")
    job = await create(door(ctx), "every 30m", "How cold is it?", name="cold")
    await played(ctx)
    assert not model.requests
    clock.now += 1800
    await played(ctx)
    [run] = await jobs_of(ctx).runs("owner", job.id)
    assert (run.state, run.answer, run.due) == ("done", "It is cold.", START + 1800)
    model.check()
