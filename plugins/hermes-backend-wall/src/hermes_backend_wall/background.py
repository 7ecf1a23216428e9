"""Commands behind the wall that run on in the background."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from hermes_backend_kit.background import Background
from hermes_backend_kit.endings import KILLED
from hermes_backend_kit.output import Unread
from hermes_backend_wall.job import Job
from hermes_backend_wall.sandbox import Sandbox
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

__all__ = ["started"]


async def started(
    sandbox: Sandbox,
    asked: Mapping[str, Any],
    request: ExecRequest,
    *,
    ended: Callable[[], str] = str,
    own: bool = False,
) -> Background:
    """Start a command. Its status is 137 where the sandbox ended under it. Raises ToolError.

    ``ended`` is called once, when it has ended and before that is told; what it says is the last of the output. Where
    the sandbox is the command's ``own``, it ends with it.
    """
    closing: list[asyncio.Future[None]] = []
    unread = Unread(request.limit, request.on_output)
    job = Job(sandbox, unread.take)
    settled = False

    def settle(_: object = None) -> None:
        nonlocal settled
        if settled:
            return
        settled = True
        lost = job.finished.exception() if job.finished.done() else None
        if isinstance(lost, ToolError) and not unread:
            unread.take(f"{lost.text}\n".encode())
        if said := ended():
            unread.take(f"\n{said}\n".encode())
        closing.extend([asyncio.ensure_future(sandbox.close())] if own else [])

    def status() -> int:
        settle()
        try:
            return job.finished.result()
        except ToolError:
            return KILLED

    async def write(data: bytes) -> None:
        job.write(data)

    async def end() -> None:
        await job.end()
        job.forget()
        settle()
        await asyncio.gather(*closing)

    job.finished.add_done_callback(settle)
    try:
        await job.start(asked, None)
    except BaseException:  # it never ran, and so nothing else will say that it is over
        settle()
        raise
    if request.stdin:
        job.write(request.stdin)
    return Background(unread, over=job.finished.done, status=status, write=write, end=end)
