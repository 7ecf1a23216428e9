"""The pipes of a command, held by a process that is none: the test has both ends."""

import asyncio
import os
import subprocess
from pathlib import Path
from time import monotonic

import pytest

from hermes_backend_kit.pipes import CHUNK, LINGER, Pipes
from hermes_core.errors import ToolError


def descriptors():
    """How many are open; listing them needs one more, each time."""
    return len(list(Path("/dev/fd").iterdir()))


def started(script, pipes, stdin):
    """A script of shell with these pipes."""
    writing, *reading = inner = pipes.open(stdin)
    entrance = reading[0] if reading else subprocess.DEVNULL
    process = subprocess.Popen(["sh", "-c", script], stdin=entrance, stdout=writing, stderr=writing)
    for fd in inner:
        os.close(fd)
    pipes.watch()
    return process


async def of(script, pipes, stdin=b""):
    """Run a script and say when it ended."""
    process = started(script, pipes, stdin)
    while process.poll() is None:
        await asyncio.sleep(0.005)
    pipes.exited(process.returncode)


async def test_output_is_complete_before_the_status_is_told():
    heard = bytearray()
    pipes = Pipes(heard.extend)
    await of(f"head -c {3 * CHUNK} /dev/zero; exit 7", pipes)
    assert await pipes.finished == pipes.status == 7
    assert len(heard) == 3 * CHUNK
    pipes.close()


async def test_input_of_any_size_arrives_and_ends():
    heard = bytearray()
    pipes = Pipes(heard.extend)
    await of("cat", pipes, b"x" * 2_000_000)
    assert await pipes.finished == 0
    assert len(heard) == 2_000_000


async def test_input_that_nobody_reads_is_no_fault():
    pipes = Pipes(bytearray().extend)
    await of("true", pipes, b"x" * 2_000_000)
    assert await pipes.finished == 0
    pipes.close()


async def test_an_open_input_takes_more_until_the_command_closes_it():
    heard = bytearray()
    pipes = Pipes(heard.extend)
    running = asyncio.create_task(of("read line; echo got $line; exec <&-; sleep 0.1", pipes, None))
    await asyncio.sleep(0)
    pipes.write(b"this\n")
    await running
    assert await pipes.finished == 0
    assert heard == b"got this\n"
    pipes.write(b"nobody is there\n")
    with pytest.raises(ToolError, match="no more input"):
        pipes.write(b"now that is known")
    pipes.close()


async def test_without_open_input_nothing_can_be_written():
    pipes = Pipes(bytearray().extend)
    running = asyncio.create_task(of("true", pipes))
    await asyncio.sleep(0)
    with pytest.raises(ToolError, match="no more input"):
        pipes.write(b"x")
    await running


async def test_whatever_outlives_the_command_does_not_hold_its_end():
    heard = bytearray()
    pipes = Pipes(heard.extend)
    began = monotonic()
    await of("sleep 20 & echo $!", pipes)
    assert await pipes.finished == 0
    assert LINGER <= monotonic() - began < 10
    os.kill(int(heard), 9)


async def test_what_the_listener_raises_is_heard_by_whoever_waits():
    def fail(_: bytes) -> None:
        raise ValueError("no more")

    pipes = Pipes(fail)
    await of("echo x", pipes)
    with pytest.raises(ValueError, match="no more"):
        await pipes.finished
    pipes.close()


async def test_the_first_word_about_the_end_counts():
    pipes = Pipes(bytearray().extend)
    pipes.fail(ToolError("it was lost"))
    pipes.exited(0)
    pipes.fail(ToolError("again"))
    with pytest.raises(ToolError, match="it was lost"):
        await pipes.finished


async def test_nothing_stays_open_after_close():
    before = descriptors()
    pipes = Pipes(bytearray().extend)
    for fd in pipes.open(None):
        os.close(fd)
    pipes.watch()
    pipes.close()
    pipes.close()
    assert descriptors() == before
