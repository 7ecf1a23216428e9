"""Outputs of tools: how much of one a model sees, and files of this machine as the tools of a workspace see them."""

import asyncio
from pathlib import Path

from hermes_core.kinds import Workspace
from hermes_core.types import Feature

__all__ = ["output_room", "seen_in"]


async def seen_in(place: Workspace, path: Path) -> str:
    """Where the tools see a file: itself, or a copy where this machine's files are not seen. Raises ToolError."""
    if Feature.LOCAL in place.features and Feature.ISOLATED not in place.features:
        return str(path)
    inside = f"/tmp/hermes-outputs/{path.name}"  # noqa: S108 - of the place, not of this machine
    await place.write(inside, await asyncio.to_thread(path.read_bytes))
    return inside


def output_room(most: int, window: int, calls: int) -> int:
    """How many characters of each output of one reply the model sees: less where its window is small.

    One takes at most 15 % of a window of so many tokens, all together 30 %; ``most`` is what the settings allow.
    """
    one, together = (window * 4 * 15 // 100, window * 4 * 30 // 100) if window else (most, most * 4)
    return min(most, max(one, 8_000), max(together, 16_000) // max(1, calls))
