"""Outputs of tools: how much of one a model sees, and files of this machine as the tools of a workspace see them."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from hermes_core.codec import clean
from hermes_core.kinds import Workspace
from hermes_core.types import Feature

__all__ = ["MOST", "kept_of", "output_room", "seen_in"]

MOST = 4_000_000  # characters of an output that are looked at and kept
_OVERLAP = 65_536  # more of them are looked at where it is cut: a secret may lie there


async def seen_in(place: Workspace, path: Path) -> str:
    """Say where the tools see a file: itself, or a copy where this machine's files are not seen. Raises ToolError."""
    if Feature.LOCAL in place.features and Feature.ISOLATED not in place.features:
        return str(path)
    inside = f"/tmp/hermes-outputs/{path.name}"  # noqa: S108 - of the place, not of this machine
    await place.write(inside, await asyncio.to_thread(path.read_bytes))
    return inside


def kept_of(text: str, masked: Callable[[str], str]) -> str:
    """Return an output as it is kept, ``masked``; of one that is too long head and tail, and nobody looks between."""
    if len(text) <= MOST:
        return masked(clean(text))
    head, tail = (masked(clean(end)) for end in (text[: MOST // 2 + _OVERLAP], text[-MOST // 2 - _OVERLAP :]))
    return f"{head[:-_OVERLAP]}\n\n… {len(text) - MOST:,} characters were not kept …\n\n{tail[_OVERLAP:]}"


def output_room(most: int, window: int, calls: int) -> int:
    """Say how many characters of each output of one reply the model sees: less where its window is small.

    One takes at most 15 % of a window of so many tokens, all together 30 %; ``most`` is what the settings allow.
    """
    one, together = (window * 4 * 15 // 100, window * 4 * 30 // 100) if window else (most, most * 4)
    return min(most, max(one, 8_000), max(together, 16_000) // max(1, calls))
