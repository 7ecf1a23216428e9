"""The calendar that a full screen shows: what ran, what runs, and what keys do to jobs."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hermes_core.errors import UserError
from hermes_tool_cron import actions
from hermes_tool_cron.actions import Door
from hermes_tool_cron.values import Run
from hermes_tool_cron.week import _ran
from hermes_tool_kit.screens import screens_of
from hermes_tool_kit.screens_contract import ScreensContract

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def desk(hermes):
    hermes.configure({"cron.zone": "Europe/Berlin"})
    hermes.tmp_plugin("hermes_tool_cron")
    hermes.runtime.loader.load_contributing("services")
    ctx = hermes.context("hermes_tool_cron")
    return Door(ctx, ctx.owner, written=True)


@pytest.fixture
def calendar(desk):
    (screen,) = screens_of(desk.ctx, "cron")
    return screen


class TestCalendar(ScreensContract):
    @pytest.fixture
    async def service(self, desk):
        job = await actions.create(desk, "every day at 08:00", "What is new?", name="morning")
        await actions.run_now(desk, job)
        await actions.create(desk, "every 10m", "Look.", name="often", proposed=True)
        found, _ = desk.ctx.host.contributed("services", ["cron"])
        return found["cron"]


def column(picture, ident):
    return next((one for one in picture.columns if one.id == ident), None)


def titles(picture, ident):
    found = column(picture, ident)
    return [card.title for card in found.cards] if found else None


async def test_days_before_and_to_come_begin_at_today(desk, calendar):
    await actions.create(desk, "every day at 08:00", "What is new?", name="morning")
    picture = await calendar.picture()
    days = [one.id for one in picture.columns]
    today = datetime.fromtimestamp(await desk.rows.now(), BERLIN).date()
    assert picture.at == today.isoformat()
    assert days == [(today + timedelta(days=n)).isoformat() for n in range(-6, 8)]
    assert titles(picture, (today + timedelta(days=1)).isoformat()) == ["08:00 morning"]
    assert "nothing runs jobs now" in picture.note


async def test_what_runs_often_is_one_card_a_day_and_another_clock_is_said(desk, calendar):
    await actions.create(desk, "*/5 * * * *", "Look.", name="often")
    await actions.create(desk, "0 9 * * *", "Rise.", name="tokyo", zone="Asia/Tokyo")
    picture = await calendar.picture()
    cards = {card.title.split()[-1]: card for card in picture.columns[8].cards}
    assert cards["often"].title == "00:00 – 23:55 often"
    assert "288 times" in cards["often"].note
    assert "09:00 there" in cards["tokyo"].note


async def test_keys_pause_resume_run_and_remove(desk, calendar):
    job = await actions.create(desk, "every day at 08:00", "What is new?", name="morning")
    card = (await calendar.picture()).columns[8].cards[0].id
    assert await calendar.press("p", card) == "morning: paused"
    assert titles(await calendar.picture(), "paused") == ["morning"]
    assert (await calendar.press("u", card)).startswith("morning: ")
    assert "is to run now" in await calendar.press("r", card)
    with pytest.raises(UserError, match="runs, or is about to"):
        await calendar.press("r", card)
    today = column(picture := await calendar.picture(), picture.at)
    assert today.cards[0].tone == "busy"
    assert "a person asked for it" in await calendar.about(today.cards[0].id)
    await calendar.press("x", today.cards[0].id)
    assert await desk.rows.list(job.person) == []


async def test_what_was_proposed_is_accepted_or_dismissed(desk, calendar):
    for name in ("one", "two"):
        await actions.create(desk, "every day at 08:00", "What is new?", name=name, proposed=True)
    picture = await calendar.picture()
    assert titles(picture, "proposed") == ["one", "two"]
    assert "2 proposed" in picture.note
    one, two = column(picture, "proposed").cards
    await calendar.press("a", one.id)
    assert await calendar.press("d", two.id) == "two: not wanted."
    picture = await calendar.picture()
    assert column(picture, "proposed") is None
    assert titles(picture, picture.columns[8].id) == ["08:00 one"]


async def test_what_is_another_persons_is_not_seen(desk, calendar):
    from attrs import evolve

    job = await actions.create(desk, "every day at 08:00", "What is new?", name="morning")
    run = await actions.run_now(desk, job)
    other = await desk.rows.add(evolve(job, id="", person="ben", name="theirs"), 10)
    for card in (f"job\n{other.id}\n1", "run\nnothing", "", f"run\n{run.id}x"):
        with pytest.raises(UserError):
            await calendar.press("p", card)
    assert "theirs" not in str(await calendar.picture())


def test_runs_of_a_day_that_are_many_are_one_card_for_each_end():
    day = datetime(2026, 11, 20, 9, tzinfo=BERLIN)
    states = ["done"] * 6 + ["failed"]
    runs = [
        Run(id=f"j@{n}", job="j", name="often", person="p", due=(day + timedelta(minutes=n)).timestamp(), state=state)
        for n, state in enumerate(states)
    ]
    found = [(when, card.title, card.note, card.tone) for when, card in _ran(runs, BERLIN)]
    assert found == [
        (day.date(), "09:00 often", "6 × done", "good"), (day.date(), "09:06 often", "failed", "bad"),
    ]  # fmt: skip
    assert len(list(_ran(runs[:3], BERLIN))) == 3
