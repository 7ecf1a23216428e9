"""The sessions: found by title and by what was said, opened, renamed, deleted, forked."""

import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from textual.pilot import Pilot
from textual.widgets import Input

from hermes_core.errors import StoreError
from hermes_core.testing import Steps
from hermes_core.types import Hit, Principal, Session
from hermes_platform_tui.screens.rows import Rows
from hermes_platform_tui.screens.sessions import NEW, SessionPicker

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import HOSTILE, NOW, Host, clickable, drawn, ended, given_all, now, session_rows, settled, until

pytestmark = pytest.mark.long


def picker(given: Any = None, **more: Any) -> SessionPicker:
    return SessionPicker(given or given_all(), now=now, **more)


def ids(app: Host) -> list[str]:
    return [row.id for row in app.screen.query_one("#rows", Rows).shown]


ENDS = {
    "enter": "s1",
    "down enter": "s2",
    "down down up enter": "s2",
    "pagedown enter": "s6",
    "tab j j enter": "s3",
    "tab end space": "s6",
    "ctrl+n": NEW,
    "tab n": NEW,
    "escape": None,
}


async def test_keys_that_end_it(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for keys, result in ENDS.items():
            with subtests.test(keys=keys):
                assert await ended(pilot, picker(), *keys.split()) == result


async def test_the_session_in_use_is_where_it_begins() -> None:
    app = Host(picker(current="s4"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert app.result == "s4"


@pytest.mark.parametrize(
    ("size", "words"), [((40, 12), ()), ((80, 24), ("21 msg", "unknown", "free")), ((200, 60), ("gpt-5-mini",))]
)
async def test_what_a_row_tells(size: tuple[int, int], words: tuple[str, ...]) -> None:
    app = Host(picker())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        shown = drawn(app)
        for word in ("● running", "! interrupted", "3 min ago", "日本語", *words):
            assert word in shown


async def test_typing_filters_by_title_at_once() -> None:
    app = Host(picker())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(*"norway")
        await pilot.pause()
        assert ids(app) == ["s4"]
        assert "1 of 6" in drawn(app)
        await pilot.press("ctrl+u")
        await settled(pilot)
        assert len(ids(app)) == 6


async def search(pilot: Pilot[None], app: Host, words: str) -> None:
    await pilot.press(*words)
    await until(pilot, lambda: any("\n" in ident for ident in ids(app)))


async def test_typing_finds_what_was_said() -> None:
    given = given_all()
    given.sessions.hits = [
        Hit(
            session_id="s3",
            message_id=2,
            title="",
            role="assistant",
            snippet="use a >>>cache<<< mount",
            created=NOW - 99,
        )
    ]
    app = Host(asked := picker(given))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await search(pilot, app, "cache")
        shown = drawn(app)
        assert "In what was said (1)" in shown
        assert "use a cache mount" in shown
        assert ">>>" not in shown
        await settled(pilot)
        assert "why is my docker" in drawn(app)  # the preview around it
        await pilot.press("enter")
        await settled(pilot)
        assert (app.result, asked.message) == ("s3", 2)


async def test_hits_of_words_that_are_gone_go_too() -> None:
    given = given_all()
    hit = Hit(session_id="s3", message_id=2, title="T", role="user", snippet=">>>cache<<<", created=NOW)
    given.sessions.hits = [hit]
    app = Host(picker(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        await search(pilot, app, "cache")
        await pilot.press("ctrl+u")
        await settled(pilot)
        assert len(ids(app)) == 6


async def test_the_preview_is_beside_or_behind_a_key() -> None:
    app = Host(picker())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "About Mend the flaky" in drawn(app)
        await pilot.press("down")
        await until(pilot, lambda: "About Release notes" in drawn(app))
        await pilot.press("f3")
        await settled(pilot)
        assert "About Release notes" not in drawn(app)
        await pilot.press("f3")
        await pilot.resize_terminal(60, 20)
        await settled(pilot)
        assert "About Release notes" not in drawn(app)
        await pilot.press("f3")
        await until(pilot, lambda: "About Release notes" in drawn(app))
        await pilot.press("f3")
        await settled(pilot)
        assert "About Release notes" not in drawn(app)


async def test_renaming() -> None:
    app = Host(picker(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f2")
        await settled(pilot)
        line = app.screen.query_one("#line", Input)
        assert line.value == "Mend the flaky gateway test"
        line.value = ""
        await pilot.press("enter")  # nothing is no title
        await settled(pilot)
        await pilot.press(*"new", "enter")
        await settled(pilot)
        assert (await given.sessions.get(given.owner, "s1")).title == "new"
        assert "Renamed." in drawn(app)
        assert "new" in drawn(app)


@pytest.mark.parametrize(
    ("keys", "gone"), [("d", True), ("1", True), ("enter", False), ("escape", False), ("up enter", True)]
)
async def test_deleting_asks_once(keys: str, gone: bool) -> None:
    app = Host(picker(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("delete")
        await settled(pilot)
        assert "cannot be taken back" in drawn(app)
        await pilot.press(*keys.split())
        await settled(pilot)
        assert ("s1" in {row.session.id for row in await given.sessions.rows(given.owner, limit=99)}) is not gone
        assert ("s1" in ids(app)) is not gone


async def test_delete_in_the_middle_of_a_word_edits_it() -> None:
    app = Host(picker())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(*"xrelease", "home", "delete")
        await settled(pilot)
        assert app.screen.query_one("#filter", Input).value == "release"
        assert ids(app) == ["s2"]


async def test_forking_goes_to_the_new_one() -> None:
    app = Host(picker(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("down", "tab", "f")
        await settled(pilot)
        assert len(await given.sessions.rows(given.owner, limit=99)) == 7
        await pilot.press("enter")
        await settled(pilot)
        assert app.result == "session-1"


async def test_letters_go_to_the_line_when_they_mean_nothing_to_the_list() -> None:
    app = Host(picker())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("tab", "w", "a", "y")
        await settled(pilot)
        assert app.screen.query_one("#filter", Input).value == "way"
        assert ids(app) == ["s1", "s4"]


async def test_what_goes_wrong_is_told() -> None:
    given = given_all()
    given.sessions.wrong = StoreError("The store is locked.", hint="End the other process.")
    app = Host(picker(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "! The store is locked." in drawn(app)
        assert "End the other process." in drawn(app)
        await pilot.press("enter", "f2", "delete", "f4", "down")
        await settled(pilot)
        assert app.result == "not yet"


async def test_a_session_that_is_gone_is_told() -> None:
    app = Host(picker(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await given.sessions.delete(given.owner, "s1")
        await pilot.press("f4")
        await settled(pilot)
        assert "There is no session named 's1'" in drawn(app)


async def test_a_thousand_sessions_come_in_pages() -> None:
    given = given_all()
    sessions: Any = given.sessions
    first = session_rows()[0]
    for number in range(1000):
        session = Session(id=f"n{number}", origin="cli", title=f"Title number {number}")
        sessions.known_rows[session.id] = evolve(first, session=session)
        sessions.inner.known[session.id] = (session, [])
    app = Host(picker(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert sessions.asked == [100]
        assert len(ids(app)) == 100
        await pilot.press("ctrl+end")
        await until(pilot, lambda: len(ids(app)) == 200)
        app.screen.query_one("#filter", Input).value = "number 7"
        await until(pilot, lambda: len(ids(app)) == 271)
        assert sessions.asked[-1] >= 1006
        for words in ("number 77", "number", "number 999", ""):
            with Steps(1_006, each=100, first=200_000):  # to draw the screen takes most of them
                app.screen.query_one("#filter", Input).value = words
                await pilot.pause()


async def test_nothing_of_a_stranger_is_markup_or_control() -> None:
    given = given_all()
    sessions: Any = given.sessions
    row = evolve(
        session_rows()[0], session=Session(id="bad", origin="cli", title=HOSTILE, model=HOSTILE), preview=HOSTILE
    )
    sessions.known_rows = {"bad": row}
    sessions.inner.known = {"bad": (row.session, [])}
    sessions.hits = [Hit(session_id="bad", message_id=1, title=HOSTILE, role="user", snippet=HOSTILE, created=NOW)]
    app = Host(picker(given))
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot)
        await search(pilot, app, "red")
        shown = drawn(app)
        assert "[bold]x[/]" in shown
        assert all(character.isprintable() or character == "\n" for character in shown)
        assert not any("quit" in action for action in clickable(app))
        await pilot.press("delete")
        await settled(pilot)
        assert "[bold]x[/]" in drawn(app)


async def test_a_search_that_fails_is_told_and_titles_are_found_all_the_same() -> None:
    given = given_all()

    async def fail(owner: Principal, words: str, *, limit: int = 20) -> Any:
        raise StoreError("The index is broken.")

    given.sessions.search = fail  # type: ignore[method-assign]
    app = Host(picker(given))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"norway")
        await until(pilot, lambda: "! The index is broken." in drawn(app))
        assert ids(app) == ["s4"]


async def test_the_preview_of_one_that_is_gone_says_so() -> None:
    given = given_all()
    app = Host(picker(given))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await given.sessions.delete(given.owner, "s2")
        await pilot.press("down")
        await until(pilot, lambda: "There is no session" in drawn(app))
