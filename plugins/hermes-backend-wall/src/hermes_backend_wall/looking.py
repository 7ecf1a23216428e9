"""Looks that go on when no command is waited for: at large trees, and at what something may change that was left."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_backend_wall.several import Guarded

__all__ = ["LOOK", "looked"]

LOOK = 1.0  # seconds between looks at what something may change that a command left behind


async def looked(guarded: "Guarded", left: Callable[[], bool]) -> None:
    """Once through the whole tree, then again and again as long as something lives that nobody waits for."""
    if guarded.shallow:
        await asyncio.sleep(LOOK)  # many commands, one look
        await asyncio.to_thread(guarded.deepen)
        guarded.watch()
    while guarded.unsettled:
        await asyncio.sleep(LOOK)
        guarded.watch(left=left())
