"""Files of a place that only commands reach, and the folders that keys and paths mean."""

import asyncio
import os
from pathlib import Path

import pytest

from hermes_backend_kit.files import read_by, sh, write_by
from hermes_backend_kit.places import absolute, folder_here
from hermes_core.errors import ToolError, UserError
from hermes_core.types import ExecRequest, ExecResult


async def run(request: ExecRequest) -> ExecResult:
    """A place that is this machine."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *request.argv, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate(request.stdin)
    kept = output[: request.limit]
    return ExecResult(status=process.returncode or 0, output=kept, truncated=len(kept) < len(output))


async def cut(request: ExecRequest) -> ExecResult:
    """A connection that ends before all of it arrived."""
    return await run(ExecRequest(argv=request.argv, stdin=request.stdin[:-1]))


async def test_what_is_written_is_read_with_any_name_in_folders_made_on_the_way(tmp_path):
    for name in ("plain", "made/on/the way", "-dash", 'quote\'d "name"', "line\nbreak"):
        place = str(tmp_path / name)
        await write_by(run, place, name, bytes(range(256)))
        assert await read_by(run, place, name) == bytes(range(256))


async def test_mode_and_link_stay(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o750)
    link.symlink_to(file)
    await write_by(run, str(link), "link", b"new")
    assert (link.is_symlink(), file.read_bytes(), file.stat().st_mode & 0o777) == (True, b"new", 0o750)


async def test_a_lost_connection_leaves_the_old_file_and_nothing_beside(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with pytest.raises(ToolError, match=r"Cannot write file on build1: the connection was cut\."):
        await write_by(cut, str(file), "file", b"new", " on build1")
    assert (file.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (b"old", ["file"])


@pytest.mark.parametrize(
    ("name", "words"),
    [("gone", "no such file"), (".", "it is a folder"), ("pipe", "it is a device, pipe or socket, not a file")],
)
async def test_what_is_no_file_is_told_with_the_name_the_model_gave(tmp_path, name, words):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError) as told:
        await read_by(run, str(tmp_path / name), f"./{name}")
    assert told.value.text == f"Cannot read ./{name}: {words}."


async def test_a_file_longer_than_anybody_holds_is_told_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_backend_kit.files.READ_LIMIT", 1_000)
    (tmp_path / "long").write_bytes(b"x" * 2_000)
    with pytest.raises(ToolError, match="more than 1,000 bytes") as told:
        await read_by(run, str(tmp_path / "long"), "long")
    assert "head, tail" in told.value.hint


async def test_a_script_gets_its_words_as_they_are():
    result = await run(ExecRequest(argv=sh('printf "%s|" "$@"', "a b", "", "$HOME")))
    assert result.output == b"a b||$HOME|"


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("", "/w"),
        ("a/../b", "/w/b"),
        ("/etc", "/etc"),
        ("~", "/home/me"),
        ("~/x", "/home/me/x"),
        ("~you", "/w/~you"),
    ],
)
def test_a_path_is_read_as_the_place_would(path, full):
    assert absolute(path, "/w", "/home/me") == full


def test_a_key_is_a_folder_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()
    assert folder_here("") == Path.cwd()
    assert folder_here("~/sub") == tmp_path / "sub"
    with pytest.raises(UserError, match="does not exist"):
        folder_here("gone")
    with pytest.raises(UserError, match="is not a folder"):
        folder_here("file")
