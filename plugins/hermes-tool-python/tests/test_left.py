"""What is told of a script whose Hermes died, and what of it is ended."""

import asyncio
import os
import subprocess
import sys
import time

import pytest

from hermes_core.environment import MARK
from hermes_core.types import Session
from hermes_tool_python.notes import Note, forget_old

ONCE = "It was not run again: look at what it did before you repeat it."


@pytest.fixture
def left(full):
    async def call():
        return await full.tool.left(full.context, full.tool.params(code="x"))

    return call


@pytest.fixture
def outlived():
    """A process that outlived its Hermes."""
    env = {**os.environ, MARK: "a-mark-of-this-test"}
    process = subprocess.Popen(["sleep", "300"], env=env, start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def note(full):
    return Note(full.ctx.paths.data, full.context.session, full.context.call_id)


def cut(note, mark, *calls):
    """Leave a note as a Hermes does that dies."""
    kept = note.kept(mark)
    kept.__enter__()
    for name, arguments, how in calls:
        note.begun(name, arguments)
        if how:
            note.over(how)


async def test_what_nobody_wrote_down_may_not_have_begun(left):
    assert await left() == f"Hermes was ended as this script was to run; whether it had begun is not known. {ONCE}"


async def test_its_calls_are_told_and_how_each_ended(left, note):
    cut(note, "none", ("read_file", {"path": "a"}, "ok"), ("write_file", {"path": "b", "content": "x" * 999}, ""))
    told = (await left()).splitlines()
    assert told[0] == f"Hermes was ended while this script ran; nothing of it runs any more. {ONCE}"
    assert told[2] == "- read_file(path='a'): ok"
    assert told[3].startswith("- write_file(path='b', content='xxx")
    assert told[3].endswith(": cut off, nobody knows what it did")
    assert len(told[3]) < 300
    assert "is not known" in await left(), "it is told once"


async def test_one_that_had_called_nothing_says_so(left, note):
    cut(note, "none")
    assert (await left()).endswith("It had called no tool.")


async def test_one_that_had_ended_lost_only_what_it_gave(left, note):
    with note.kept("none"):
        note.begun("read_file", {})
        note.over("ok")
    assert "it had come to its end, and what it gave is lost" in await left()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
async def test_what_still_lives_of_it_is_ended(left, note, outlived):
    cut(note, "a-mark-of-this-test")
    assert "nothing of it runs any more" in await left()
    assert await asyncio.to_thread(outlived.wait, 5) == -9


def test_a_note_that_was_cut_off_says_what_it_has(note, full):
    cut(note, "m", ("read_file", {}, "ok"))
    (path,) = (full.ctx.paths.data / "running").iterdir()
    path.write_text(path.read_text() + '{"call": "wri')
    assert note.read().calls == [("read_file()", "ok")]
    path.write_text('{"ma')
    assert note.read() is None


def test_the_next_script_of_a_session_forgets_the_last_and_time_all(tmp_path):
    first, second = (Note(tmp_path, Session(id="s", origin="cli"), call) for call in ("1", "2"))
    other = Note(tmp_path, Session(id="t", origin="cli"), "1")
    for one in (first, other, second):
        with one.kept("m"):
            pass
    assert (first.read(), second.read().over, other.read().over) == (None, True, True)
    for path in (tmp_path / "running").iterdir():
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    forget_old(tmp_path)
    assert not [*(tmp_path / "running").iterdir()]


async def test_a_note_that_cannot_be_written_stops_no_script(full):
    (full.ctx.paths.data / "running").write_text("a file where the folder would be")
    code = "from hermes_tools import read_file\nread_file('x')"
    assert await full.call(code) == "→ text of it"
