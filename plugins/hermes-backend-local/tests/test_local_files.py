"""Files and background commands of the local workspace."""

import asyncio
import os
from pathlib import Path

import pytest

from hermes_backend_local import disk
from hermes_backend_local.backend import Local
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest


@pytest.fixture
async def place(tmp_path: Path):
    workspace = await Local().open(str(tmp_path))
    yield workspace
    await workspace.close()


@pytest.mark.parametrize("data", [b"", b"\0\xff\r\n", b"x" * 3_000_000])
async def test_what_is_written_is_read(place, data):
    await place.write("deep/er/file", data)
    assert await place.read("deep/er/file") == data


async def test_a_written_file_keeps_its_mode_and_leaves_nothing_beside_it(place, tmp_path):
    (tmp_path / "run.sh").write_bytes(b"old")
    (tmp_path / "run.sh").chmod(0o751)
    await place.write("run.sh", b"new")
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o751
    assert [path.name for path in tmp_path.iterdir()] == ["run.sh"]


async def test_a_link_stays_a_link(place, tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    await place.write("link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


async def test_a_failed_write_changes_nothing(place, tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "replace", full)
    with pytest.raises(ToolError, match="no space left"):
        await place.write("file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


async def test_devices_pipes_and_folders_are_refused_at_once(place, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/zero", "."):
        with pytest.raises(ToolError, match="it is a"):
            await place.read(path)
        with pytest.raises(ToolError, match="it is a"):
            await place.write(path, b"x")


async def test_a_missing_file_is_told_plainly(place):
    with pytest.raises(ToolError, match="no such file"):
        await place.read("gone")


async def test_a_file_too_large_is_refused_with_advice(place, tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(disk.READ_LIMIT + 1)
    with pytest.raises(ToolError, match="head, tail"):
        await place.read("huge")


async def test_a_background_command_is_read_written_and_polled(place):
    heard = asyncio.Event()
    request = ExecRequest(argv=("bash", "-c", "read a; echo got $a; exit 5"), on_output=lambda _: heard.set())
    process = await place.start(request)
    assert await process.poll() is None
    await process.write(b"word\n")
    await heard.wait()
    assert await process.read() == b"got word\n"
    assert await process.read() == b""
    async with asyncio.timeout(20):
        while (status := await process.poll()) is None:
            await asyncio.sleep(0.01)
    assert status == 5


async def test_unread_background_output_is_bounded(place):
    done = asyncio.Event()

    def listen(data: bytes) -> None:
        if data.endswith(b"end\n"):
            done.set()

    script = "head -c 3000000 /dev/zero; echo end; sleep 60"
    process = await place.start(ExecRequest(argv=("sh", "-c", script), limit=1000, on_output=listen))
    await done.wait()
    output = await process.read()
    assert len(output) < 300_000
    assert output.endswith(b"end\n")
    assert b"bytes left out" in output


async def test_killing_ends_it_and_it_takes_no_more_input(place):
    process = await place.start(ExecRequest(argv=("sh", "-c", "sleep 60")))
    await process.kill()
    assert await process.poll() == 143
    with pytest.raises(ToolError, match="no more input"):
        await process.write(b"x")


async def test_closing_the_place_ends_what_runs(place):
    process = await place.start(ExecRequest(argv=("sleep", "60")))
    await place.close()
    assert await process.poll() == 143
