"""What a command came to whose Hermes died, as the tool tells it."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest
from hermes_tool_terminal.left import Note

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")


@pytest.fixture
def left(terminal, context):
    async def call():
        return await terminal.left(context, terminal.params(command="x"))

    return call


@pytest.fixture
def cut(ctx, context):
    """A command that outlived the Hermes that wrote it down."""
    begun = []

    def begin(script, seconds=60.0, output=b"", **how):
        request = ExecRequest(argv=("sh", "-c", script), seconds=seconds)
        note = Note(ctx.paths.data, context.session, context.call_id)
        note.write(request, **how)
        note.heard(output)
        env = {**os.environ, MARK: request.env[MARK]}
        begun.append(subprocess.Popen(request.argv, env=env, start_new_session=True))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.wait()


async def test_what_nobody_wrote_down_is_unknown(left):
    with pytest.raises(ToolError, match="check first"):
        await left()


async def test_it_is_waited_for_and_its_output_comes_from_outside(left, cut, context, ctx, tmp_path):
    process = cut(f"until [ -e {tmp_path}/over ]; do sleep 0.05; done", output=b"so far\n")
    waiting = asyncio.ensure_future(left())
    await asyncio.wait({waiting}, timeout=1.5)
    assert not waiting.done()
    (tmp_path / "over").touch()
    told = await waiting
    assert process.poll() is not None or process.wait(5) == 0
    assert "ended by itself" in told
    assert told.endswith("until Hermes died:\nso far")
    assert context.untrusted
    assert not [*(ctx.paths.data / "running").iterdir()]
    with pytest.raises(ToolError):
        await left()


async def test_when_its_time_is_over_it_is_ended_with_all_it_started(left, cut):
    process = cut("setsid -f sleep 300; trap '' TERM; sleep 300", seconds=1.0)
    began = time.monotonic()
    assert "its time was over" in await left()
    assert time.monotonic() - began < 10
    assert process.wait(5) == -signal.SIGKILL


async def test_who_does_not_want_to_wait_ends_it(left, cut):
    process = cut("exec sleep 300")
    waiting = asyncio.ensure_future(left())
    await asyncio.sleep(0.5)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert process.wait(5) == -signal.SIGTERM


async def test_what_hermes_ended_as_it_ended_is_told_without_a_look(left, cut, place):
    cut("exec sleep 300", ended=True)
    assert "ended it with all that it had started" in await left()
    assert not place.asked


async def test_of_much_output_the_end_is_kept(left, cut, ctx, context):
    cut("true")
    note = Note(ctx.paths.data, context.session, context.call_id)
    for number in range(50):
        note.heard(f"{number}".encode() * 10_000)
    known = note.read()
    assert len(known.output) <= 200_000
    assert known.output.endswith(b"49" * 10_000)


async def test_a_command_that_ended_leaves_no_note_and_one_that_was_cut_does(terminal, context, ctx):
    await terminal.run(context, terminal.params(command="echo done"))
    folder = ctx.paths.data / "running"
    assert not [*folder.iterdir()]
    running = asyncio.ensure_future(terminal.run(context, terminal.params(command="echo begun; exec sleep 60")))
    while not [*folder.glob("*.out")]:
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "begun" in await terminal.left(context, terminal.params(command="x"))
