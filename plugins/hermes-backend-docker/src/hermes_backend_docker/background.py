"""Commands that run on in the background."""

from collections.abc import Awaitable, Callable

from hermes_backend_docker.command import Command
from hermes_backend_kit.background import Background
from hermes_backend_kit.endings import KILLED
from hermes_backend_kit.output import Unread
from hermes_core.errors import ToolError

__all__ = ["background"]


def background(command: Command, unread: Unread, end: Callable[[Command], Awaitable[None]]) -> Background:
    """Return a command as what runs on; its status is 137 when it was killed, also with its container."""
    killed = False

    def status() -> int:
        told = command.marks.status
        return KILLED if told is None or killed else told

    async def write(data: bytes) -> None:
        if command.over:
            raise ToolError("The process takes no more input.")
        await command.write(data)

    async def kill() -> None:
        nonlocal killed
        if not command.over:
            killed = True
            await end(command)
        await command.close()

    return Background(unread, over=lambda: command.over, status=status, write=write, end=kill)
