"""Commands on this machine, through the public door: Local().open(folder)."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_backend_local import tree
from hermes_backend_local.backend import Local
from hermes_backend_local.workspace import Here
from hermes_core.errors import ToolError, UserError
from hermes_core.types import ExecRequest, ExecResult, Feature


@pytest.fixture
async def place(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "environ", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    workspace = await Local().open(str(tmp_path))
    yield workspace
    await workspace.close()


async def sh(place: Here, script: str, **more: object) -> ExecResult:
    return await place.run(ExecRequest(argv=("bash", "-c", script), **more))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_both_streams_and_the_status_come_back(place):
    result = await sh(place, "echo out; echo err >&2; exit 7")
    assert (result.status, sorted(result.output.split())) == (7, [b"err", b"out"])


async def test_a_signal_shows_as_128_and_its_number(place):
    assert (await place.run(ExecRequest(argv=("sh", "-c", "kill -9 $$")))).status == 137


async def test_input_of_any_size_and_any_byte_arrives(place):
    data = bytes(range(256)) * 20_000
    result = await place.run(ExecRequest(argv=("cat",), stdin=data, limit=10_000_000))
    assert result.output == data
    assert not result.truncated


async def test_input_that_nobody_reads_is_no_fault(place):
    assert (await place.run(ExecRequest(argv=("true",), stdin=b"x" * 5_000_000))).status == 0


async def test_without_input_a_reader_sees_the_end_at_once(place):
    assert (await place.run(ExecRequest(argv=("cat",)))).output == b""


async def test_long_output_keeps_head_and_tail_within_the_limit(place):
    result = await sh(place, "echo first; head -c 12000000 /dev/zero; echo last", limit=10_000)
    assert result.truncated
    assert len(result.output) <= 10_000
    assert result.output.startswith(b"first\n")
    assert result.output.endswith(b"last\n")
    assert b"bytes left out" in result.output


async def test_output_just_at_the_limit_is_whole(place):
    result = await sh(place, "head -c 5000 /dev/zero", limit=5000)
    assert (len(result.output), result.truncated) == (5000, False)


async def test_the_listener_hears_every_byte(place):
    heard: list[bytes] = []
    await sh(place, "head -c 3000000 /dev/zero", limit=100, on_output=heard.append)
    assert sum(map(len, heard)) == 3_000_000


async def test_a_listener_that_fails_ends_the_command_and_is_heard(place):
    def fail(_: bytes) -> None:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await sh(place, "echo x; sleep 60", on_output=fail)


async def test_what_outlives_the_command_does_not_hold_its_result(place):
    result = await sh(place, "sleep 60 & echo $!")
    assert result.status == 0
    os.kill(int(result.output), 9)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_a_time_out_ends_the_whole_tree_even_what_hides(place):
    # bash reports jobs in between, so the ids carry a sign of their own.
    script = (
        "sleep 60 & echo pid:$!; set -m; sleep 60 & echo pid:$!; setsid sleep 60 & echo pid:$!; "
        "(setsid sh -c 'echo pid:$$; sleep 60' &); trap '' TERM; echo pid:$$; sleep 60"
    )
    result = await sh(place, script, seconds=1.5)
    pids = [int(word[4:]) for word in result.output.split() if word.startswith(b"pid:")]
    assert result.status == 124
    assert len(pids) == 5
    assert not [pid for pid in pids if alive(pid)]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_cancelling_ends_the_tree_and_the_place_works_on(place):
    heard = asyncio.Event()
    output: list[bytes] = []

    def listen(data: bytes) -> None:
        output.append(data)
        heard.set()

    task = asyncio.create_task(sh(place, "sleep 60 & echo $! $$; wait", on_output=listen))
    await heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [pid for pid in map(int, b"".join(output).split()) if alive(pid)]
    assert (await sh(place, "echo fine")).output == b"fine\n"


def descriptors() -> set[tuple[str, str]]:
    """What is open, one by one: what an earlier test left open may be closed meanwhile."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists them
            found.add((entry.name, str(entry.readlink())))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_no_descriptor_is_left_open(place):
    await sh(place, "true")
    before = descriptors()
    for _ in range(5):
        await sh(place, "echo x", stdin=b"y")
        await sh(place, "sleep 60", seconds=0.01)
        with pytest.raises(ToolError):
            await place.run(ExecRequest(argv=("no-such-program",)))
    assert descriptors() - before == set()


async def test_without_pidfd_and_memfd_it_works_as_well(place, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert (await sh(place, "cd /; exit 4")).status == 4
    assert (await sh(place, "pwd")).output == b"/\n"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ExecRequest(argv=("no-such-program",)), "no such program"),
        (ExecRequest(argv=("true",), cwd="/no/such/folder"), "no folder /no/such/folder"),
        (ExecRequest(argv=("true",), cwd="/etc/passwd"), "is not a folder"),
        (ExecRequest(argv=("/etc/passwd",)), "permission denied"),
        (ExecRequest(argv=("true", "x" * 300_000)), "too long"),
        (ExecRequest(argv=("true", "a\0b")), "Cannot run true"),
        (ExecRequest(argv=()), "Cannot run"),
    ],
)
async def test_what_cannot_start_says_why(place, request_, words):
    with pytest.raises(ToolError, match=words):
        await place.run(request_)


async def test_folder_and_environment_of_a_request_are_used(place, tmp_path):
    (tmp_path / "sub").mkdir()
    result = await sh(place, "pwd; echo $COLOR", cwd="sub", env={"COLOR": "blue"})
    assert result.output.decode().split() == [str(tmp_path / "sub"), "blue"]


async def test_commands_run_side_by_side(place, tmp_path):
    # Each waits for the other: one after the other they would never end.
    a, b = "echo x > a; until [ -e b ]; do sleep 0.01; done", "echo x > b; until [ -e a ]; do sleep 0.01; done"
    results = await asyncio.gather(sh(place, a, seconds=20), sh(place, b, seconds=20))
    assert [r.status for r in results] == [0, 0]


async def test_a_missing_folder_is_told_plainly(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        await Local().open(str(tmp_path / "gone"))
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is not a folder"):
        await Local().open(str(tmp_path / "file"))


async def test_an_empty_key_is_the_current_folder():
    assert (await Local().open("")).cwd == str(Path.cwd())


async def test_without_bash_nothing_persistent_is_promised(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    place = await Local().open(str(tmp_path))
    assert place.features == {Feature.BACKGROUND, Feature.LOCAL}


@pytest.mark.parametrize("buried", [True, False])
def test_who_bears_the_number_of_a_buried_command_is_a_stranger(buried):
    """Numbers come round within minutes where much is started: who was ended then was another's sandbox, say."""
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        assert tree.members(stranger.pid, "nobody", buried=buried) == (set() if buried else {stranger.pid})
    finally:
        stranger.kill()
        stranger.wait()


def test_what_is_left_of_the_session_of_a_buried_command_is_its_own():
    command = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!"], start_new_session=True, stdout=subprocess.PIPE)
    left = int(command.stdout.readline())
    command.wait()
    command.stdout.close()
    try:
        assert tree.members(command.pid, "nobody", buried=True) == {left}
    finally:
        os.kill(left, signal.SIGKILL)
