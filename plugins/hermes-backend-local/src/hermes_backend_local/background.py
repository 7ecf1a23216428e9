"""Commands that run on in the background."""

from collections.abc import Mapping
from typing import Any

from hermes_backend_kit.background import Background
from hermes_backend_kit.output import Unread
from hermes_backend_local.spawn import Spawned
from hermes_backend_wall.background import started
from hermes_backend_wall.sandbox import Sandbox
from hermes_backend_wall.several import Guarded
from hermes_core.types import ExecRequest

__all__ = ["behind_the_wall", "in_the_open"]


def in_the_open(request: ExecRequest, cwd: str, env: Mapping[str, str]) -> Background:
    """Start a command of this machine. Raises ToolError."""
    unread = Unread(request.limit, request.on_output)
    spawned = Spawned(request.argv, cwd=cwd, env=env, sink=unread.take, stdin=None)
    if request.stdin:
        spawned.write(request.stdin)

    async def write(data: bytes) -> None:
        spawned.write(data)

    finished = spawned.finished
    return Background(unread, over=finished.done, status=finished.result, write=write, end=spawned.end)


async def behind_the_wall(
    sandbox: Sandbox, asked: Mapping[str, Any], request: ExecRequest, protected: Guarded, *, own: bool = False
) -> Background:
    """Start one behind the wall. When it ended, what it changed and may not is put back; its output says so.

    A sandbox of its ``own`` ends with it. Raises ToolError.
    """
    protected.begin()
    return await started(sandbox, asked, request, ended=lambda: protected.end(left=sandbox.left), own=own)
