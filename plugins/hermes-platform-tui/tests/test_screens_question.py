"""Questions: what is shown is what will run, and only a key that was meant answers."""

import asyncio
import contextvars
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.screen import Screen
from textual.widgets import Input

from hermes_core.types import Verdict
from hermes_platform_tui.screens.question import QuestionDialog
from hermes_platform_tui.screens.queue import QuestionQueue
from hermes_platform_tui.screens.sheet import Sheet
from hermes_platform_tui.screens.shown import exact

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import BIG, HOSTILE, Host, clickable, drawn, ended, question, settled, until

pytestmark = pytest.mark.long


def dialog(**given: Any) -> QuestionDialog:
    return QuestionDialog(question(**given), person="owner", quiet=0)


async def answer(asked: QuestionDialog, *keys: str) -> Any:
    async with Host().run_test() as pilot:
        return await ended(pilot, asked, *keys)


ALLOWING = {
    "1": "once",
    "2": "session",
    "3": "always",
    "o": "once",
    "S": "session",
    "a": "always",
    "up enter": "always",
    "down enter": "once",
    "tab tab enter": "session",
    "shift+tab enter": "always",
}
REFUSED = Verdict(outcome="deny", reason="refused by the person", by="owner", choice="deny")


async def test_every_key_that_allows(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for keys, choice in ALLOWING.items():
            with subtests.test(keys=keys):
                verdict = await ended(pilot, dialog(), *keys.split())
                assert verdict == Verdict(outcome="allow", by="owner", choice=choice)


async def test_every_key_that_refuses(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for keys in ("4", "d", "enter", "escape", "down up enter"):
            with subtests.test(keys=keys):
                assert await ended(pilot, dialog(), *keys.split()) == REFUSED


async def test_other_keys_answer_nothing(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for key in ("5", "x", "0", "space", "pagedown", "ctrl+a"):
            with subtests.test(key=key):
                assert await ended(pilot, dialog(), key) == "not yet"


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_all_choices_and_their_cost_are_seen(size: tuple[int, int]) -> None:
    app = Host(dialog(subject=BIG))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        shown = drawn(app)
        assert all(f"{n} {name}" in shown for n, name in enumerate(("once", "session", "always", "deny"), 1))
        assert f"▼ {62 - shown.count('echo step')} more lines" in shown or size == (40, 12)
        await pilot.press(*["pagedown"] * 12)
        app.screen.query_one(Sheet).scroll_end(animate=False)
        await settled(pilot)
        assert "step 59" in drawn(app) or size == (40, 12)
        assert "more line" not in drawn(app)
        if size == (40, 12):  # no room beside the choices
            assert "session and always would allow:" in drawn(app)
        else:
            assert drawn(app).count("would allow every call of terminal") == 2


async def test_the_subject_is_shown_to_the_letter() -> None:
    app = Host(dialog(subject=HOSTILE, risk=HOSTILE, covers=HOSTILE))
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        told = re.sub(r"\s", "", exact(HOSTILE))
        assert re.sub(r"[\s│↪]", "", drawn(app)).count(told) == 4  # subject, risk, and what two choices allow
        assert clickable(app) <= {"screen.cancel", "screen.scroll(1)", "screen.instead"}


@pytest.mark.parametrize("sizes", [[(80, 24)], [(80, 24), (40, 12), (80, 24)], [(80, 24), (120, 40), (1, 1), (80, 24)]])
async def test_how_much_is_out_of_sight_stays_true(sizes: list[tuple[int, int]]) -> None:
    app = Host(dialog(subject=BIG))
    async with app.run_test(size=sizes[0]) as pilot:
        for size in sizes:
            await pilot.resize_terminal(*size)
            await settled(pilot)
        shown = drawn(app)
        assert f"▼ {62 - shown.count('echo step')} more lines" in shown
        await pilot.press("pagedown")
        await settled(pilot)
        last = max(int(number) for number in re.findall(r"echo step (\d+)", drawn(app)))
        assert f"▼ {61 - last} more lines" in drawn(app)


async def test_what_a_long_grant_covers_is_shown_whole() -> None:
    app = Host(dialog(covers="every call\n" * 30 + "the very last"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press(*["pagedown"] * 5)
        await settled(pilot)
        assert "the very last" in drawn(app)


async def test_an_admin_who_is_asked_is_told_so() -> None:
    app = Host(QuestionDialog(question(to="admin"), person="owner", waiting=1, quiet=0))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "an admin is asked, 1 more after this" in drawn(app)


async def test_without_lasting_choices_nothing_is_said_of_them() -> None:
    app = Host(dialog(choices=("once", "deny")))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "would allow" not in drawn(app)
        await pilot.press("2")
        await settled(pilot)
        assert app.result.outcome == "deny"


async def test_a_key_that_came_with_the_question_does_not_answer() -> None:
    asked = QuestionDialog(question(), person="owner", quiet=3600)
    app = Host(asked)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter", "1", "escape", "a")
        await settled(pilot)
        assert app.result == "not yet"
        assert "was not taken" in drawn(app)


async def test_words_that_came_with_the_question_do_not_answer() -> None:
    asked = QuestionDialog(question(kind="text", choices=()), person="owner", quiet=3600)
    app = Host(asked)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("y", "e", "s", "enter")
        app.screen._forward_event(events.Paste("pasted"))
        await settled(pilot)
        assert asked.query_one(Input).value == ""
        assert app.result == "not yet"


async def test_what_was_typed_before_it_was_seen_does_not_answer() -> None:
    """However late it is read: a key bears the time at which it was pressed."""
    app = Host(dialog())
    async with app.run_test() as pilot:
        asked = app.screen
        assert isinstance(asked, QuestionDialog)
        early = events.Key("1", "1")
        second = QuestionDialog(question(), person="owner", quiet=0.001)
        app.push_screen(second, app.ended)
        await settled(pilot)
        second._forward_event(early)
        await settled(pilot)
        assert app.result == "not yet"


async def test_a_choice(subtests: pytest.Subtests) -> None:
    chosen = {"1": "SQLite", "2": "PostgreSQL", "enter": "SQLite", "down enter": "PostgreSQL"}
    async with Host().run_test() as pilot:
        for keys, choice in chosen.items():
            with subtests.test(keys=keys):
                asked = dialog(kind="choice", choices=("SQLite", "PostgreSQL"), covers="", risk="")
                verdict = await ended(pilot, asked, *keys.split())
                assert verdict == Verdict(outcome="allow", by="owner", choice=choice)


async def test_letters_of_a_choice_choose_nothing() -> None:
    asked = dialog(kind="choice", choices=("SQLite", "PostgreSQL"))
    assert await answer(asked, "s", "p") == "not yet"


async def test_no_answer_to_a_choice_is_a_no() -> None:
    verdict = await answer(dialog(kind="choice", choices=("a", "b")), "escape")
    assert verdict.outcome == "deny"


async def test_an_answer_in_words() -> None:
    asked = dialog(kind="text", choices=())
    assert await answer(asked, "enter", *"main", "enter") == Verdict(outcome="allow", by="owner", choice="main")


async def test_a_click_alone_does_not_grant() -> None:
    app = Host(dialog())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.click("#choices", offset=(5, 0))
        await settled(pilot)
        assert app.result == "not yet"
        await pilot.click("#choices", offset=(5, 0))
        await settled(pilot)
        assert app.result.choice == "once"


async def test_it_is_withdrawn_under_another_screen() -> None:
    asked = dialog()
    app = Host(asked)
    async with app.run_test() as pilot:
        await settled(pilot)
        other: Screen[None] = Screen()
        app.push_screen(other)
        await settled(pilot)
        asked.withdraw()
        await settled(pilot)
        assert app.screen is other
        app.pop_screen()
        await settled(pilot)
        assert app.result is None
        assert len(app.screen_stack) == 1


async def test_questions_come_one_after_another() -> None:
    app = Host()
    async with app.run_test() as pilot:
        queue = QuestionQueue(app, person="owner", quiet=0)
        asked = [question(id=f"q{n}", subject=f"subject {n}") for n in range(3)]
        tasks = [asyncio.create_task(queue.ask(one)) for one in asked]
        await settled(pilot)
        assert queue.waiting == 3
        assert "subject 0" in drawn(app)
        assert "2 more after this" in drawn(app)
        assert queue.withdraw("q1")
        await settled(pilot)
        assert "1 more after this" in drawn(app)
        await pilot.press("1")
        await settled(pilot)
        assert "subject 2" in drawn(app)
        await pilot.press("4")
        verdicts = await asyncio.gather(*tasks)
        assert [verdict and verdict.choice for verdict in verdicts] == ["once", None, "deny"]
        assert len(app.screen_stack) == 1
        assert not queue.withdraw("q0")


async def test_a_question_that_nobody_waits_for_goes() -> None:
    app = Host()
    async with app.run_test() as pilot:
        queue = QuestionQueue(app, person="owner", quiet=0)
        first = asyncio.create_task(queue.ask(question(id="q1", subject="subject 1")))
        second = asyncio.create_task(queue.ask(question(id="q2", subject="subject 2")))
        await settled(pilot)
        first.cancel()
        await until(pilot, lambda: "subject 2" in drawn(app))
        await pilot.press("o")
        verdict = await second
        assert verdict is not None
        assert verdict.choice == "once"


async def test_two_keys_at_once_answer_one_question() -> None:
    app = Host()
    async with app.run_test() as pilot:
        queue = QuestionQueue(app, person="owner", quiet=3600)
        first = asyncio.create_task(queue.ask(question(id="q1")))
        second = asyncio.create_task(queue.ask(question(id="q2")))
        await settled(pilot)
        shown = app.screen
        assert isinstance(shown, QuestionDialog)
        shown.finish(Verdict(outcome="allow", choice="once"))
        shown.finish(Verdict(outcome="allow", choice="always"))
        await settled(pilot)
        await pilot.press("1")  # comes with the second question
        await settled(pilot)
        verdict = await first
        assert verdict is not None
        assert verdict.choice == "once"
        assert not second.done()
        second.cancel()
        await settled(pilot)


async def test_a_task_that_knows_no_app_may_ask() -> None:
    """The kernel plays turns in tasks of its own."""
    app = Host()
    async with app.run_test() as pilot:
        queue = QuestionQueue(app, person="owner", quiet=0)
        asked = asyncio.create_task(queue.ask(question(id="q1")), context=contextvars.Context())
        await until(pilot, lambda: "May this run?" in drawn(app))
        await settled(pilot)
        await pilot.press("o")
        verdict = await asked
        assert verdict is not None
        assert verdict.choice == "once"
        again = asyncio.create_task(queue.ask(question(id="q2")), context=contextvars.Context())
        await until(pilot, lambda: "May this run?" in drawn(app))
        contextvars.Context().run(queue.withdraw, "q2")
        assert await again is None
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_an_app_that_is_gone_answers_nothing() -> None:
    app = Host()
    async with app.run_test():
        queue = QuestionQueue(app, person="owner", quiet=0)
    assert await queue.ask(question()) is None


@pytest.mark.parametrize("key", ["i", "I"])
async def test_a_no_says_what_to_do_instead(key: str) -> None:
    async with Host().run_test() as pilot:
        verdict = await ended(pilot, dialog(), key, *"use pnpm", "enter")
        assert verdict == Verdict.refused("owner", "use pnpm")
        assert verdict.outcome == "deny"


async def test_who_says_nothing_instead_is_still_asked_and_escape_is_a_no() -> None:
    async with Host().run_test() as pilot:
        assert await ended(pilot, dialog(), "i", "enter") == "not yet"
    async with Host().run_test() as pilot:
        assert await ended(pilot, dialog(), "i", "x", "escape") == REFUSED
