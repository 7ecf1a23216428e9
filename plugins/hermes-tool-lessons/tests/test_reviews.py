"""Reviews are made once, within what they may cost, and keep what is a lesson and nothing else."""

import asyncio
import json

import pytest

from hermes_core.brokers import Mailbox
from hermes_core.errors import UserError
from hermes_core.kinds import Provider
from hermes_core.types import Done, Model, Target, TextDelta
from hermes_tool_lessons.asking import drafts_of
from hermes_tool_lessons.service import Keeper
from hermes_tool_lessons.shared import reviewer_of

from .conftest import reply

ISO = {"trigger": "stratus deploy", "text": "Use `--iso` for dates."}


async def corrected(here, session="s"):
    await here.say("Deploy build 7 on stratus.", session)
    await here.say("No, dates must be ISO there.", session)


async def test_a_conversation_that_rests_is_reviewed_by_itself(house) -> None:
    here = house("Deployed.", "Again.", reviews=[reply(ISO)], **{"learning.idle_seconds": 0.1, "learning.share": 9.0})
    await corrected(here)
    async with asyncio.timeout(30):
        while not await here.lessons():
            await asyncio.sleep(0.05)
    assert (await here.only()).text == ISO["text"]


async def test_what_costs_too_much_waits_unless_a_person_wants_it(house) -> None:
    here = house("Deployed.", "Again.", reviews=[reply(ISO)], **{"learning.idle_seconds": 0.0})
    await corrected(here)
    assert await reviewer_of(here.ctx).look() > 60, "5 % of two short turns are no review"
    assert not here.reviewing.requests
    await here.review()
    assert len(here.reviewing.requests) == 1
    assert (await here.only()).state == "candidate"


async def test_there_are_no_more_in_a_day_than_may_be(house) -> None:
    more = {"learning.idle_seconds": 0.0, "learning.share": 9.0, "learning.reviews": 1}
    here = house("a", "b", "c", "d", reviews=[reply(ISO)], **more)
    for session in ("s", "t"):
        await corrected(here, session)
        await asyncio.sleep(0.01)
        await reviewer_of(here.ctx).look()
    async with asyncio.timeout(30):
        while not await here.lessons():
            await asyncio.sleep(0.05)
    states = [one.state for one in await here.queue.list(here.me) if one.session]
    assert states == ["done", "due"]


@pytest.mark.parametrize(
    "answer",
    ["Sure! I learned a lot.", "[]", '{"lessons": 1}', '{"lessons": [', "{" * 20_000, ""],
)
async def test_a_reply_that_is_none_teaches_nothing(house, answer) -> None:
    here = house("Deployed.", "Again.", reviews=[answer])
    await corrected(here)
    await here.review()
    assert await here.lessons() == []
    assert (await here.queue.list(here.me))[0].state == "failed"


async def test_a_lesson_that_no_event_taught_is_none(house) -> None:
    here = house("Deployed.", "Again.", reviews=[reply({**ISO, "events": ["e99"]}, {**ISO, "trigger": " "})])
    await corrected(here)
    await here.review()
    assert await here.lessons() == []


def test_a_reply_is_read_with_care() -> None:
    named = {"e1": "t/turn"}
    listed = [{"trigger": "a", "text": "b", "events": ["e1", 7]}, 5, {"trigger": 1, "text": "b"}, {"trigger": "a"}]
    (only,) = drafts_of(json.dumps({"lessons": listed}), named, (), session="s", tainted=True)
    assert (only.trigger, only.text, only.sources, only.tainted) == ("a", "b", ["t/turn"], True)
    many = json.dumps({"lessons": [{"trigger": "a", "text": str(n), "events": ["e1"]} for n in range(9)]})
    assert len(drafts_of(f"```json\n{many}\n```", named, (), session="s", tainted=False)) == 3


async def test_a_better_lesson_takes_the_place_of_the_one_it_names(house) -> None:
    here = house("Deployed.", "Again.", "x", reviews=[])
    await here.hermes.slash("/learned add when stratus deploy: Use `--us` for dates.")
    old = await here.only()
    here.reviewing.add(reply({**ISO, "replaces": old.id}))
    await corrected(here)
    await here.review()
    new = next(one for one in await here.lessons() if one.id != old.id)
    assert (new.replaces, new.state) == (old.id, "candidate")
    await here.slash(f"/learned approve {new.id}")
    assert {one.id: one.state for one in await here.lessons()} == {old.id: "retired", new.id: "active"}
    assert "Use `--iso`" in await here.say("Deploy on stratus.", "t")


async def test_a_conversation_that_is_gone_is_not_reviewed(house) -> None:
    here = house("Deployed.", "Again.")
    await corrected(here)
    await here.ctx.sessions.delete(here.me, "s")
    assert await reviewer_of(here.ctx).look() is None
    assert await here.queue.list(here.me) == []


class Slow(Provider):
    """Looks back for ever at first, and then at once."""

    name = "slow"

    def __init__(self):
        self.asked = 0

    async def models(self):
        return [Model(name="slow-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        self.asked += 1
        if self.asked == 1:
            await asyncio.sleep(600)
        yield TextDelta(text=reply(ISO))
        yield Done(reason="stop")


async def test_a_review_that_the_end_of_the_program_cut_off_is_asked_again(house) -> None:
    slow = Slow()
    here = house("Deployed.", "Again.", plugins=[slow], **{"learning.model": "slow:slow-1"})
    await corrected(here)
    for one in await here.queue.open():
        await here.queue.plan(one.owner, one.session, "", 0.0, asked=True)
    reviewer_of(here.ctx).wake("s")
    async with asyncio.timeout(30):
        while not slow.asked:
            await asyncio.sleep(0.02)
    await reviewer_of(here.ctx).closed("s")
    assert await here.lessons() == []
    async with asyncio.timeout(30):
        while await here.queue.open():
            await here.review()
    assert slow.asked == 2
    assert (await here.only()).text == ISO["text"]
    rows = await here.ctx.sessions.rows(here.me, children=True)
    assert [one.session.id for one in rows] == ["s"], "no copy stays"


class Box(Mailbox):
    """Keeps what is sent, once for its key."""

    name = "box"

    def __init__(self):
        self.kept = {}

    async def targets(self, owner):
        return [Target(address="box:1")]

    async def find(self, owner, target, session=None):
        if target != "box":
            raise UserError("no such chat")
        return [Target(address="box:1")]

    async def send(self, owner, target, message, session=None, key=""):
        found = await self.find(owner, target)
        self.kept.setdefault(key, message.parts[0].text)
        return found

    async def ending(self, owner, target, message, turn_id):
        raise UserError("not here")

    async def ask(self, owner, target, question):
        raise UserError("not here")

    async def named(self, word, owner):
        return ()

    async def sent(self, trace, turn_id, owner):
        return ()


async def test_each_week_it_is_told_once_what_was_learned(house) -> None:
    box = Box()
    here = house("Deployed.", "Again.", reviews=[reply(ISO)], plugins=[box], **{"learning.report": "box"})
    await corrected(here)
    await here.review()
    for _ in range(2):
        keeper = Keeper(here.ctx)
        await keeper._look_after()
    (text,) = box.kept.values()
    assert "1 wait for your yes" in text
    assert "1 candidate" in text
    assert "wait for a review" in await Keeper(here.ctx).status()
