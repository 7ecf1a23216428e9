"""What was sent before: walked through, searched, kept in a file that several processes share."""

import json
import multiprocessing
import os
import stat
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import ComposerApp, menu_rows, paste, type_in

from hermes_platform_tui.composer import history as module
from hermes_platform_tui.composer.history import History

pytestmark = pytest.mark.long


def kept(path: Path) -> list[str]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.jsonl"


def filled(path: Path, *entries: str) -> Path:
    history = History(path, pytest.fail)
    for entry in entries:
        history.add(entry)
    return path


async def test_up_and_down_walk_and_the_draft_is_kept(path: Path) -> None:
    app = ComposerApp(filled(path, "first", "second\nof two lines", "third"))
    async with app.run_test() as pilot:
        await type_in(pilot, "draft")
        seen = []
        for key in ("up", "up", "up", "up", "down", "down", "down", "down", "down"):
            await pilot.press(key)
            seen.append(app.composer.text)
        assert seen == [
            "third",
            "second\nof two lines",
            "first",
            "first",
            "second\nof two lines",
            "third",
            "draft",
            "draft",
            "draft",
        ]


async def test_inside_a_text_up_and_down_move(path: Path) -> None:
    app = ComposerApp(filled(path, "old"))
    async with app.run_test() as pilot:
        app.composer.set_text("one\ntwo")
        await pilot.press("up", "x")
        assert app.composer.text == "onex\ntwo"
        await pilot.press("down", "y")
        assert app.composer.text == "onex\ntwoy"
        await pilot.press("up", "up")
        assert app.composer.text == "old"
        await pilot.press("down")
        assert app.composer.text == "onex\ntwoy"


async def test_a_changed_entry_is_a_draft(path: Path) -> None:
    app = ComposerApp(filled(path, "older", "newer"))
    async with app.run_test() as pilot:
        await pilot.press("up", "up", "!", "up")
        assert app.composer.text == "newer"
        await pilot.press("down")
        assert app.composer.text == "older!"


async def test_walking_over_commands_opens_no_menu(path: Path) -> None:
    app = ComposerApp(filled(path, "before", "/h"))
    async with app.run_test() as pilot:
        await pilot.press("up")
        await app.workers.wait_for_complete()
        await pilot.press("up")
        assert app.composer.text == "before"
        assert menu_rows(app) == []


async def test_what_is_sent_is_kept_expanded_for_the_next_time(path: Path) -> None:
    app = ComposerApp(path)
    async with app.run_test() as pilot:
        await type_in(pilot, "See ")
        await paste(pilot, "line\n" * 9)
        await pilot.press("enter")
        await type_in(pilot, "again\nagain\n secret\n")
        assert len(app.sent) == 4
    whole = "See " + "line\n" * 9
    assert kept(path) == [whole, "again"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    app = ComposerApp(path)
    async with app.run_test() as pilot:
        await pilot.press("up", "up")
        assert app.composer.text == whole


async def test_without_a_file_it_is_kept_for_this_time() -> None:
    app = ComposerApp(None)
    async with app.run_test() as pilot:
        await type_in(pilot, "one\ntwo\n")
        await pilot.press("up", "up")
        assert app.composer.text == "one"


async def test_searching(path: Path) -> None:
    app = ComposerApp(filled(path, "list the files", "Run the TESTS", "explain\nthe tests", "run the tests"))
    async with app.run_test() as pilot:
        await type_in(pilot, "draft")
        await pilot.press("ctrl+r")
        assert "history:" in app.shown
        assert menu_rows(app)[0] == "› run the tests"
        await type_in(pilot, "test run")
        assert menu_rows(app) == ["› run the tests", "  Run the TESTS"]
        await pilot.press("ctrl+r", "enter")
        assert app.composer.text == "Run the TESTS"
        assert app.sent == []
        assert menu_rows(app) == []
        await pilot.press("ctrl+underscore")
        assert app.composer.text == "draft"


async def test_leaving_a_search(path: Path) -> None:
    app = ComposerApp(filled(path, "one thing", "another"))
    async with app.run_test() as pilot:
        await type_in(pilot, "draft")
        await pilot.press("ctrl+r")
        await paste(pilot, "nothing like it\n")
        assert "nothing found" in app.shown
        await pilot.press("enter", "!")
        assert app.composer.text == "draft!"
        await pilot.press("ctrl+r", "o", "x", "backspace", "n", "escape", "?")
        assert app.composer.text == "draft!?"
        assert app.left == []
        await pilot.press("ctrl+r", "o", "n", "e", "ctrl+a", "1")
        assert app.composer.text == "1one thing"


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (b'"one"\n"two', ["one"]),
        (b'\xff\xfe\x00\n"one"\n{"a": 1}\n[]\nnull\n', ["one"]),
        (b"[" * 100_000 + b'\n"one"\n', ["one"]),
        (b"", []),
    ],
)
def test_broken_lines_cost_themselves_alone(path: Path, data: bytes, entries: list[str]) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    notices: list[str] = []
    history = History(path, notices.append)
    history.add("new")
    assert history.entries == [*entries, "new"]
    assert len(notices) == bool(data)
    assert History(path, [].append).entries == [*entries, "new"]


async def test_a_file_that_cannot_be_used_is_told_and_nothing_more(path: Path) -> None:
    path.mkdir(parents=True)
    app = ComposerApp(path)
    async with app.run_test() as pilot:
        await type_in(pilot, "one\n")
        await pilot.press("up")
        assert app.composer.text == "one"
        assert len(app.notices) == 1
        assert str(path) in app.notices[0]


def test_it_is_capped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ", 1_000)
    monkeypatch.setattr(module, "LARGEST", 2_000)
    monkeypatch.setattr(module, "ENTRY", 500)
    history = History(path, pytest.fail)
    for number in range(400):
        history.add(f"entry {number}")
    history.add("x" * 501)
    assert history.entries[-1] == "x" * 501
    again = History(path, pytest.fail)
    assert again.entries[-1] == "entry 399"
    assert path.stat().st_size <= 1_000
    assert kept(path) == again.entries
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('"one"\n')
    path.chmod(0o644)
    History(path, pytest.fail).add("two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


FULL = 100_000  # bytes at which the file is cut down: nearly every line does
EACH = 120


def _write(path: Path, name: str, ready: "multiprocessing.synchronize.Barrier") -> None:
    module.READ, module.LARGEST = FULL - 50, FULL
    module.PATIENCE = 10.0
    ready.wait()
    for number in range(EACH):
        history = History(path, lambda text: os._exit(3))
        history.add(f"{name} {number} " + "x" * 100)


def test_several_at_once_lose_nothing(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f'"old {"x" * 993}"\n' * (FULL // 1_000))
    context = multiprocessing.get_context("spawn")
    names = ("a", "b")
    ready = context.Barrier(len(names))
    writers = [context.Process(target=_write, args=(path, name, ready)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert path.stat().st_size < 2 * FULL
    lines = [line.split()[:2] for line in kept(path)]
    for name in names:
        assert [int(number) for owner, number in lines if owner == name] == list(range(EACH))
