"""Ready schedules: what is filled in, what is missing, and whose words become a command."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UnknownName, UserError
from hermes_core.testing import ScriptedProvider
from hermes_tool_cron.actions import Door
from hermes_tool_cron.blueprints import FILE, Blueprint, Slot, about, blueprints, filled, make, slots_of
from hermes_tool_cron.schedule import parse

SAID = {
    "briefing": {"place": "Oslo"}, "news": {"topic": "bikes"}, "reminder": {"text": "water the plants", "when": "2h"},
    "price": {"page": "https://example.org/bike", "thing": "the red one", "limit": "250 EUR"}, "review": {},
    "repository": {"folder": "/"}, "disk": {},
}  # fmt: skip


@pytest.fixture
def desk(hermes):
    hermes.tmp_plugin(ScriptedProvider([]))
    hermes.tmp_plugin("hermes_tool_cron")
    hermes.configure({"cron.zone": "UTC"})
    hermes.runtime.loader.load_contributing("services")
    ctx = hermes.context("hermes_tool_cron")
    return Door(ctx, ctx.owner, written=True)


def own(desk, text):
    (desk.ctx.paths.home / FILE).write_text(text, encoding="utf-8")


async def test_each_of_ours_becomes_a_job(desk):
    assert set(blueprints(desk.ctx)) == set(SAID)
    for name, said in SAID.items():
        job = await make(desk, name, said)
        assert (job.name, job.state) == (name, "active")
        assert not [one for one in said if f"{{{one}}}" in job.prompt + job.schedule + job.options.script]
        assert job.due > 0
    assert (await make(desk, "disk", {"path": "/tmp"})).name == "disk-2"


@pytest.mark.parametrize("name", SAID)
def test_the_usual_times_of_each_are_times(desk, name):
    ready = filled(blueprints(desk.ctx)[name], SAID[name])
    assert parse(ready.schedule, "UTC", 1_767_225_600.0)
    assert about(blueprints(desk.ctx)[name]).count("\n") >= 2


async def test_what_is_missing_or_strange_is_said(desk):
    with pytest.raises(UserError, match="place: where you are") as told:
        await make(desk, "briefing", {})
    assert "place=" in told.value.hint
    with pytest.raises(UnknownName, match="plaice"):
        await make(desk, "briefing", {"plaice": "Oslo"})
    with pytest.raises(UnknownName, match="breifing"):
        await make(desk, "breifing", {})
    with pytest.raises(UserError, match="one line"):
        await make(desk, "news", {"topic": "a\nb"})
    with pytest.raises(UserError, match="fills in nothing"):
        slots_of(["Oslo"])
    assert await desk.rows.list(desk.owner.person) == []


async def test_guests_make_none(desk, monkeypatch):
    async def admit(self):
        raise UserError("Guests have no jobs.")

    monkeypatch.setattr(Door, "admit", admit)
    with pytest.raises(UserError, match="Guests"):
        await make(desk, "review", {})


@given(value=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=60))
def test_what_is_filled_into_a_script_is_one_word_of_it(value):
    slots = {"path": Slot(about="a path")}
    made = filled(
        Blueprint(name="x", summary="", schedule="1h", script="df {path} {other}", slots=slots), {"path": value}
    )
    assert shlex.split(made.script) == ["df", value, "{other}"]


@given(value=st.sampled_from(["{time}", "{place}", "{topics}"]))
def test_what_is_filled_in_is_not_filled_in_again(value):
    slots = {"place": Slot(about=""), "topics": Slot(about="", default="sea"), "time": Slot(about="", default="8")}
    made = filled(
        Blueprint(name="x", summary="", schedule="{time}", prompt="{place} {topics}", slots=slots), {"place": value}
    )
    assert made.prompt == f"{value} sea"


async def test_a_persons_own_stand_beside_ours_and_before_them(desk):
    own(desk, '[laundry]\nsummary = "S"\nschedule = "every saturday at 18:00"\nprompt = "Ask {who}."\n'
              '[laundry.slots]\nwho = {about = "whom"}\n[review]\nschedule = "1h"\nprompt = "Mine."\n')  # fmt: skip
    there = blueprints(desk.ctx)
    assert there["review"].prompt == "Mine."
    assert set(there) == {*SAID, "laundry"}
    assert (await make(desk, "laundry", {"who": "Ada"})).prompt == "Ask Ada."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[x", "cannot be read"),
        ("x = 1", "no blueprint"),
        ('[x]\nprompt = "p"', "needs a schedule"),
        ('[x]\nschedule = "1h"', "a prompt or a script"),
        ('[x]\nschedule = "1h"\nprompt = "p"\ngrants = ["terminal(*)"]', "there is no grants"),
        ('[x]\nschedule = "1h"\nprompt = ["p"]', "prompt is no text"),
        ('[x]\nschedule = "1h"\nprompt = "p"\n[x.slots]\na = {about = "b"}', "stands nowhere"),
        ('[x]\nschedule = "1h"\nprompt = "{a}"\n[x.slots]\na = "b"', "a slot has an about"),
        ('[x]\nschedule = "1h"\nprompt = "{a}"\n[x.slots]\na = {about = "b", default = 3}', "default is no text"),
    ],
)
def test_a_file_that_is_wrong_says_where(desk, text, says):
    own(desk, text)
    with pytest.raises(UserError, match=says) as told:
        blueprints(desk.ctx)
    assert FILE in told.value.text


async def test_at_a_terminal_and_in_a_chat(desk, hermes):
    listed = await hermes.command("cron blueprints")
    assert "briefing" in listed
    assert "place" in listed
    assert json.loads(await hermes.command("cron blueprints", "news", "--json"))["slots"]["topic"]["default"] is None
    assert "fill in    topic: what it is about" in await hermes.command("cron blueprints", "news")
    said = await hermes.command("cron use", "news", "topic=electric bikes", "--name", "bikes", "--repeat", "3")
    assert "bikes [" in said
    assert "0 of 3" in said
    assert "briefing · " in await hermes.slash("/cron blueprints")
    assert "electric cars" in await hermes.slash("/cron use news topic='electric cars' time=07:15")
    assert "fill in" in await hermes.slash("/cron blueprints news")
    with pytest.raises(UserError, match="Say which"):
        await hermes.slash("/cron use")
    assert [one.name for one in await desk.rows.list(desk.owner.person)] == ["bikes", "news"]
