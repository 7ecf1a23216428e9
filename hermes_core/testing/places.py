"""What the contract test of backends does in a workspace, over and over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes_core.kinds import Backend, Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature

__all__ = [
    "EVERY_BYTE",
    "ODD_FILES",
    "ODD_WORDS",
    "TREE",
    "in_each_way",
    "make_folder",
    "opened",
    "read_until",
    "sh",
    "wait_for_file",
    "wait_for_status",
    "wait_until_gone",
]

EVERY_BYTE = bytes(range(256))
ODD_FILES = {
    "plain.txt": b"text\n",
    "made/on/the way.bin": EVERY_BYTE,
    "empty": b"",
    'quote\'d "name".txt': b"q",
    "line\nbreak": b"l",
    "-dash": b"d",
    "한국어 파일.txt": "내용".encode(),
    "large.bin": EVERY_BYTE * 4_000,
}
ODD_WORDS = [
    "a b",
    "$HOME",
    "'single'",
    '"double"',
    "semi;colon & pipe|",
    "back\\slash",
    "new\nline",
    "",
    "*",
    "안녕",
]
ALIVE = 'kill -0 "$1" 2>/dev/null || exit 1; [ -r "/proc/$1/stat" ] || exit 0; '
ALIVE += 'read -r _ _ state _ <"/proc/$1/stat" || exit 1; [ "$state" != Z ]'
TREE = "sh -c 'sleep 30 & until test -s parent; do sleep 0.01; done; echo $! >child; wait' & echo $! >parent; wait"


def make_folder(path: Path) -> str:
    """A new folder, as a key to open."""
    path.mkdir(exist_ok=True)
    return str(path)


@asynccontextmanager
async def opened(backend: Backend, key: str) -> AsyncIterator[Workspace]:
    """A workspace that is closed in the end."""
    workspace = await backend.open(key)
    try:
        yield workspace
    finally:
        await workspace.close()


async def sh(workspace: Workspace, script: str, **options: Any) -> ExecResult:
    """Run a line of shell."""
    return await workspace.run(ExecRequest(argv=("sh", "-c", script), seconds=60.0, **options))


async def in_each_way(workspace: Workspace, script: str) -> AsyncIterator[tuple[ExecRequest, str]]:
    """A line of shell run to its end, and in the background where that can be: each request, and what came of it."""
    request = ExecRequest(argv=("sh", "-c", script), seconds=60.0)
    yield request, (await workspace.run(request)).output.decode(errors="replace")
    if Feature.BACKGROUND in workspace.features:
        request = ExecRequest(argv=("sh", "-c", script), seconds=60.0)
        process = await workspace.start(request)
        await wait_for_status(workspace, process)
        yield request, (await process.read()).decode(errors="replace")


async def wait_for_file(workspace: Workspace, name: str, running: "asyncio.Task[Any] | None") -> None:
    """Wait until a command that runs has written a file."""
    for _ in range(1_000):
        if (await sh(workspace, f"test -s {name}")).status == 0:
            return
        assert running is None or not running.done(), f"the command ended early: {running}"
    pytest.fail(f"a command that should write {name} did not")


async def wait_until_gone(workspace: Workspace, *names: str) -> None:
    """Wait until the processes whose numbers are in files are no more; killing takes a moment."""
    for name in names:
        number = (await workspace.read(name)).decode().strip()
        assert number, f"the command wrote no process number into {name} before it was ended; raise `patience`"
        for _ in range(500):
            result = await workspace.run(ExecRequest(argv=("sh", "-c", ALIVE, "sh", number), seconds=60.0))
            if result.status:
                break
        else:
            pytest.fail(f"the {name} process still runs")


async def read_until(workspace: Workspace, process: Process, wanted: bytes) -> bytes:
    """Output of a background process, up to the wanted bytes."""
    output = b""
    for _ in range(500):
        output += await process.read()
        if wanted in output:
            break
        await sh(workspace, "true")
    return output


async def wait_for_status(workspace: Workspace, process: Process) -> int | None:
    """The exit status of a background process, once it has ended."""
    for _ in range(500):
        if (status := await process.poll()) is not None:
            return status
        await sh(workspace, "true")
    return None
