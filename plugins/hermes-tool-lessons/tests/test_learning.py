"""What was taught in a conversation is learned off the turn, told where it is called for, and judged by what comes."""

import json
import subprocess
import sys

import pytest

from hermes_core.errors import UserError
from hermes_core.testing import Call
from hermes_core.types import Text
from hermes_tool_lessons.shared import reviewer_of
from hermes_tool_lessons.values import Event

from .conftest import look_tool, reply, texts

ISO = {"trigger": "stratus deploy", "text": "Use `--iso` for dates."}


async def taught(house):
    """A conversation in which a person corrects a deployment, and its review."""
    await house.say("Deploy build 7 on stratus, please.")
    await house.say("No, dates must be ISO there: --iso.")
    await house.review()


async def test_a_correction_is_reviewed_in_a_hidden_copy_and_waits_for_a_yes(house) -> None:
    here = house("Deployed.", "Again, with --iso.", reviews=[reply(ISO)])
    await taught(here)
    lesson = await here.only()
    assert (lesson.trigger, lesson.text, lesson.state) == ("stratus deploy", "Use `--iso` for dates.", "candidate")
    (request,) = here.reviewing.requests
    said = [texts(one) for one in request.messages]
    assert "No, dates must be ISO there: --iso." in said[3]
    assert "e1: turn" in said[-1] or "correction" in said[-1]
    rows = await here.ctx.sessions.rows(here.me, children=True)
    assert [one.session.id for one in rows] == ["s"], "the copy is gone"
    assert "candidate" in await here.slash("/learned")
    why = await here.slash(f"/learned why {lesson.id}")
    assert "dates must be ISO" in why
    assert await here.say("Deploy build 8 on stratus.", "t") == "Deploy build 8 on stratus.", "nobody said yes to it"


async def test_what_a_person_let_in_is_told_where_it_is_called_for_and_once_in_a_conversation(house) -> None:
    here = house("Deployed.", "Again.", "a", "b", "c", reviews=[reply(ISO)])
    await taught(here)
    await here.slash(f"/learned approve {(await here.only()).id}")
    told = await here.say("Could you deploy build 8 to stratus?", "t")
    assert "Use `--iso` for dates." in told
    assert "No person wrote this" in told
    (part,) = [p for m in here.model.requests[-1].messages for p in m.parts if isinstance(p, Text) and p.quotes]
    assert part.quotes == "what was learned"
    before = here.model.requests[-1].messages
    assert await here.say("Deploy build 9 on stratus too.", "t") == "Deploy build 9 on stratus too."
    assert [texts(one) for one in here.model.requests[-1].messages][: len(before)] == [texts(one) for one in before]
    assert await here.say("What is the weather?", "u") == "What is the weather?"
    assert (await here.only()).offered == 2


async def test_what_comes_of_it_is_credited_and_four_bad_ends_retire_it(house) -> None:
    here = house(*["Deployed with --iso."] * 9)
    await here.hermes.slash("/learned add when stratus deploy: Use `--iso` for dates.")
    for number in range(4):
        await here.say("Deploy on stratus.", f"s{number}")
        await here.say("No, that is wrong.", f"s{number}")
    lesson = await here.only()
    assert (lesson.state, lesson.uses, lesson.wins) == ("retired", 4, 0)
    assert "4 of its last 4 uses went badly" in lesson.why
    assert await here.say("Deploy on stratus.", "last") == "Deploy on stratus."
    assert "went badly" in await here.slash(f"/learned why {lesson.id}", "s0")


async def test_what_was_not_followed_is_neither_praised_nor_blamed(house) -> None:
    here = house(*["Deployed without dates."] * 2)
    await here.hermes.slash("/learned add when stratus deploy: Use `--iso` for dates.")
    await here.say("Deploy on stratus.")
    await here.say("No, that is wrong.")
    lesson = await here.only()
    assert (lesson.offered, lesson.uses) == (1, 0)


async def test_in_auto_a_clean_lesson_is_tried_beside_turns_without_it_and_stays_where_it_helps(house) -> None:
    steps = [f"Deployed{text}" for text in ["."] * 2 + [" with --iso."] * 60]
    here = house(*steps, reviews=[reply(ISO)], mode="auto", **{"learning.share": 99.0})
    await taught(here)
    assert (await here.only()).state == "trial"
    held = 0
    for number in range(30):
        told = await here.say("Deploy on stratus.", f"s{number}")
        held += "--iso" not in told
        await here.say("Perfect, thanks." if "--iso" in told else "No, wrong.", f"s{number}")
        if (await here.only()).asks:
            await reviewer_of(here.ctx).look()
            break
    lesson = await here.only()
    assert (lesson.state, lesson.held, lesson.held_won) == ("active", held, 0)
    assert lesson.uses == lesson.wins >= 3
    assert held, "without comparing nothing is known"
    states = [json.loads(one.content)["state"] for one in await here.rows.versions(lesson.id)]
    assert states == ["candidate", "trial", "trial", "active"], "what was solved is done again before it stays"


async def test_after_text_from_outside_nothing_is_learned_without_a_person(house) -> None:
    calls = [Call("look", {"url": "https://x.example"}), "It says --fast.", "Deployed.", "ok"]
    here = house(*calls, "t", reviews=[reply(ISO)], mode="auto", plugins=[look_tool])
    await here.say("Look at the page.")
    await here.say("Deploy on stratus.")
    await here.say("No, wrong.")
    await here.review()
    lesson = await here.only()
    assert (lesson.state, lesson.tainted) == ("candidate", True)
    assert "outside" in lesson.asks
    assert await here.say("Deploy on stratus.", "t") == "Deploy on stratus."


async def test_where_it_is_off_nothing_is_kept_or_called(house) -> None:
    here = house("Deployed.", "Sorry.", mode="off")
    await here.say("Deploy on stratus.")
    await here.say("No, wrong.")
    assert not (here.ctx.paths.data / "used").exists()
    assert "Learning is off" in await here.slash("/learned")


def test_where_it_is_off_nothing_of_it_is_imported_but_its_hooks(tmp_path) -> None:
    lines = f"""
import asyncio, pathlib, sys
from hermes_core.testing import Bench, ScriptedProvider

async def live():
    hermes = Bench(pathlib.Path({str(tmp_path / "home")!r}))
    hermes.tmp_plugin(ScriptedProvider(["Hi."]))
    hermes.tmp_plugin("hermes_tool_lessons")
    hermes.configure({{"model.provider": "scripted"}})
    async for _ in hermes.turn("No, wrong.", session="s"):
        pass
    await hermes.close()

asyncio.run(live())
print(*sorted(name for name in sys.modules if name.startswith(("hermes_tool_lessons.", "sqlalchemy"))))
"""
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"hermes_tool_lessons.{name}" for name in ("config", "registering", "shared")]


async def test_what_a_person_takes_back_asks_for_again_or_marks_is_an_outcome(house) -> None:
    here = house(*["Deployed with --iso."] * 12, plugins=["hermes_tool_commands"])
    await here.hermes.slash("/learned add when stratus deploy: Use `--iso` for dates.")

    async def ends():
        found = await here.ledger.since(here.me, 0.0, "outcome")
        return [(one.session, bool(one.value), one.text) for one in found]

    await here.say("Deploy on stratus.", "undone")
    await here.slash("/undo --once", "undone")
    await here.say("Deploy on stratus at noon.", "undone")
    for _ in range(2):
        await here.say("Deploy build 7 on stratus, please.", "again")
    await here.say("Deploy on stratus.", "up")
    assert "went well" in await here.slash("/learned good", "up")
    with pytest.raises(UserError, match="known already"):
        await here.slash("/learned bad", "up")
    await here.say("Deploy on stratus.", "down")
    await here.slash("/learned bad dates must be ISO", "down")
    assert await ends() == [
        ("undone", False, "its person took it back"),
        ("again", False, "its person asked for it again"),
        ("up", True, "its person said so"),
        ("down", False, "its person said so"),
    ]
    lesson = await here.only()
    assert (lesson.uses, lesson.wins) == (4, 1)
    (due,) = [one for one in await here.queue.open() if one.session == "down"]
    assert due.reason == "its person corrected it"
    (said,) = [one.text for one in await here.ledger.since(here.me, 0.0, "correction")]
    assert said == "dates must be ISO"


async def test_what_a_person_says_of_a_turn_is_kept_though_the_process_dies_over_it(house, monkeypatch) -> None:
    here = house("Deployed.")
    await here.say("Deploy.")

    class Died(BaseException):
        pass

    async def dies(*_args, **_more):
        raise Died

    for step in ("settle", "write"):
        with monkeypatch.context() as one:
            one.setattr(type(here.ledger), step, dies)
            with pytest.raises(Died):
                await here.slash("/learned bad dates must be ISO")
    assert "went badly" in await here.slash("/learned bad dates must be ISO")
    said = [one.text for one in await here.ledger.of_session("s", 0.0) if one.kind == "correction"]
    assert said == ["dates must be ISO"]


async def test_what_a_command_says_drives_no_terminal(house) -> None:
    here = house("Done.")
    await here.say("Deploy.")
    await here.hermes.command("learned add", "Use `--iso` for dates.")
    lesson = await here.only()
    said = Event(
        id="t/credit/x", kind="credit", session="s", turn="t", lesson=lesson.id, text="`a \x1b]0;b\x07` passed"
    )
    await here.ledger.write(here.me, said)
    for why in (await here.hermes.command("learned why", lesson.id), await here.slash(f"/learned why {lesson.id}")):
        assert "went badly: `a \\x1b]0;b\\x07` passed\n" in why
