"""Files of this machine as the tools of a workspace see them."""

import asyncio
from pathlib import Path

from hermes_core.kinds import Workspace
from hermes_core.types import Feature

__all__ = ["seen_in"]


async def seen_in(place: Workspace, path: Path) -> str:
    """Where the tools see a file: itself, or a copy where this machine's files are not seen. Raises ToolError."""
    if Feature.LOCAL in place.features and Feature.ISOLATED not in place.features:
        return str(path)
    inside = f"/tmp/hermes-outputs/{path.name}"  # noqa: S108 - of the place, not of this machine
    await place.write(inside, await asyncio.to_thread(path.read_bytes))
    return inside
