"""Long conversations: what has widgets, and what stays where it is."""

import asyncio
from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from transcript_scenes import Known

from hermes_core.errors import UnknownName
from hermes_core.types import Said
from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript import Transcript
from hermes_platform_tui.transcript.block import Block
from hermes_platform_tui.transcript.page import MOST, Page

from .transcript_scenes import STARTED, Stage, history, screen_of

pytestmark = pytest.mark.long

SIZE = (80, 24)


async def loaded(stage: Stage, pilot: Pilot[None], count: int) -> Known:
    """A session of so many messages is shown."""
    known = Known()
    session = await known.sessions.create(known.owner, "long")
    known.sessions.known[session.id][1].extend(history(count))
    await stage.transcript.load(known, session.id)
    await rest(pilot)
    return known


async def rest(pilot: Pilot[None]) -> None:
    """Until nothing is laid out or read any more."""
    await pilot.pause()
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    """Until something holds; never for ever."""
    for _ in range(400):
        if holds():
            return
        await pilot.pause()
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


def blocks(transcript: Transcript) -> int:
    return len([block for block in transcript.query(Block) if block.display])


async def test_a_long_session_opens_at_its_end_with_few_widgets() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 500)
        shown = screen_of(stage)
        assert "Answer 125: this is about it." in shown
        assert "output of run 125" in shown
        assert blocks(stage.transcript) <= 40


async def test_scrolling_up_reads_older_messages_to_the_first_and_keeps_few_widgets() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 80)
        most = 0
        for _ in range(80):
            await pilot.press("pageup")
            await rest(pilot)
            most = max(most, blocks(stage.transcript))
            if "Question 1:" in screen_of(stage):
                break
        assert "Question 1: what about it?" in screen_of(stage)
        assert most <= MOST + 30
        for _ in range(80):
            await pilot.press("pagedown")
            await rest(pilot)
            if "Answer 20:" in screen_of(stage):
                break
        assert "Answer 20:" in screen_of(stage)
        assert blocks(stage.transcript) <= MOST + 30


async def test_nothing_is_left_out_or_shown_twice_on_the_way_up() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 60)
        seen: list[str] = []
        for _ in range(120):
            page = [line.strip() for line in screen_of(stage).split("\n") if "Question" in line]
            seen = [line for line in page if line not in seen] + seen
            if "▌ Question 1: what about it?" in seen:
                break
            await pilot.press("pageup")
            await rest(pilot)
        assert seen == [f"▌ Question {turn}: what about it?" for turn in range(1, 16)]


async def test_what_is_in_view_does_not_move_when_older_messages_come() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 200)
        page = stage.transcript.query_one(Page)
        for _ in range(30):
            low, before = page.low, screen_of(stage)
            page.scroll_relative(y=-3, animate=False, immediate=True)
            moved = before.split("\n")[: 24 - 3]
            await rest(pilot)
            assert screen_of(stage).split("\n")[3:24] == moved
            if page.low != low or len(page.entries) > 60:
                break
        else:
            pytest.fail("no older messages came")


async def test_a_call_and_its_result_on_two_pages_become_one_card() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        known = Known()
        session = await known.sessions.create(known.owner, "cut")
        known.sessions.known[session.id][1].extend(history(40))
        await stage.transcript.load(known, session.id, newest=2)  # begins with the result of the last call
        await rest(pilot)
        assert screen_of(stage).count("run 10") == 2  # the command of the card, and its output
        assert "✓ terminal  run 10" in screen_of(stage)


async def test_a_session_that_is_not_there_leaves_what_is_shown() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        stage.transcript.say("Hello.")
        with pytest.raises(UnknownName):
            await stage.transcript.load(Known(), "nothing")
        stage.transcript.flush()
        await rest(pilot)
        assert "Hello." in screen_of(stage)


async def test_it_follows_the_end_until_one_scrolls_and_again_with_the_end_key() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 60)
        transcript = stage.transcript
        transcript.show(STARTED)
        for number in range(30):
            transcript.show(Said(text=f"line {number}\n\n"))
        transcript.flush()
        await until(pilot, lambda: "line 29" in screen_of(stage))
        await pilot.press("pageup")
        await rest(pilot)
        before = screen_of(stage)
        assert "↓ new" not in before
        for number in range(30, 60):
            transcript.show(Said(text=f"line {number}\n\n"))
        transcript.flush()
        await until(pilot, lambda: "↓ new" in screen_of(stage))
        assert screen_of(stage).split("\n")[:-1] == before.split("\n")[:-1]
        await pilot.press("end")
        await until(pilot, lambda: "line 59" in screen_of(stage))
        assert "↓ new" not in screen_of(stage)
        transcript.show(Said(text="and the last\n"))
        transcript.flush()
        await until(pilot, lambda: "and the last" in screen_of(stage))


async def test_the_end_key_comes_back_from_far_up() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 300)
        assert await stage.transcript.jump_to(5)
        await rest(pilot)
        assert "Question 2:" in screen_of(stage)
        stage.transcript.note("something new")
        stage.transcript.flush()
        await rest(pilot)
        assert "↓ new" in screen_of(stage)
        await pilot.press("end")
        await rest(pilot)
        assert "something new" in screen_of(stage)
        assert blocks(stage.transcript) <= MOST


async def test_the_home_key_goes_to_the_first_message_of_all() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 300)
        await pilot.press("home")
        await rest(pilot)
        assert screen_of(stage).startswith("▌ Question 1: what about it?")
        assert blocks(stage.transcript) <= MOST


async def test_what_is_told_before_there_is_a_screen_is_shown() -> None:
    stage = Stage()
    known = Known()
    session = await known.sessions.create(known.owner, "early")
    known.sessions.known[session.id][1].extend(history(8))
    await stage.transcript.load(known, session.id)
    stage.transcript.say("And more.")
    async with stage.run_test(size=SIZE) as pilot:
        await rest(pilot)
        assert "Answer 2: this is about it." in screen_of(stage)
        assert screen_of(stage).rstrip().endswith("And more.")


async def test_jumping_to_a_message_that_is_not_there_says_so() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 20)
        assert not await stage.transcript.jump_to(4_000)


async def test_hidden_sections_have_no_widgets_and_come_back_in_place() -> None:
    stage = Stage(Config(tools="hidden"))
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 100)
        assert "terminal" not in screen_of(stage)
        assert "Thought" in screen_of(stage)
        stage.transcript.fold("tools", "expanded")
        stage.transcript.fold("reasoning", "hidden")
        await rest(pilot)
        assert "✓ terminal  run 25" in screen_of(stage)
        assert "Thought" not in screen_of(stage)
        assert "Answer 25" in screen_of(stage)


async def test_a_long_live_conversation_keeps_few_widgets() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        for number in range(90):
            stage.transcript.say(f"message {number}")
            stage.transcript.flush()
            if not number % 50:
                await rest(pilot)
        await rest(pilot)
        assert "message 89" in screen_of(stage)
        assert blocks(stage.transcript) <= MOST + 5


async def test_clearing_forgets_everything() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 100)
        stage.transcript.clear()
        await rest(pilot)
        assert not screen_of(stage).strip()
        stage.transcript.say("Anew.")
        stage.transcript.flush()
        await rest(pilot)
        assert screen_of(stage).strip() == "▌ Anew."


async def test_another_size_of_the_terminal_keeps_the_end_or_the_place() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        await loaded(stage, pilot, 60)
        for size in ((40, 12), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: "Answer 15:" in screen_of(stage).rstrip().split("\n")[-1])
        await stage.transcript.jump_to(25)
        await until(pilot, lambda: screen_of(stage).startswith("█ Question 7:"))
        for size in ((40, 12), (60, 15), (80, 24)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: screen_of(stage).startswith("█ Question 7:"))
