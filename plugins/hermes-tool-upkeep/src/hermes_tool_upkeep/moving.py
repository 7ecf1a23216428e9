"""Prepare the store that another is copied to, and put it in its place."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_upkeep.erase import place_of
from hermes_tool_upkeep.look import look, users_of
from hermes_tool_upkeep.move import Moved, copy
from hermes_tool_upkeep.salvage import fresh

__all__ = ["moved"]


def moved(ctx: PluginContext, target: str, seen: Callable[[str, int], None]) -> Moved:
    """Copy the store to a server's URL, or to a file that is not there yet. Raises UserError."""
    source = place_of(ctx)
    if isinstance(source, Path):
        found = look(source)
        if found.level not in ("ok", "derived"):
            raise UserError(f"{found.lines[0]}.", hint=f"See: {ctx.program} store check.")
        if busy := users_of(source):
            raise UserError(f"Somebody works in {source}: {', '.join(busy)}.", hint="End it; hermes gateway stop.")
    if target.startswith(("postgresql://", "postgres://")):
        with tempfile.TemporaryDirectory() as folder:
            fresh(Path(folder) / "home", "store:", f"  url: {_quoted(target)}")
        return copy(source, target, seen)
    path = Path(target.removeprefix("sqlite:///")).expanduser().absolute()
    if path.exists():
        raise UserError(f"{path} is there already.", hint="Move it away, or name another file.")
    draft = path.with_name(f".{path.name}.moving")
    if not draft.exists():
        with tempfile.TemporaryDirectory(prefix=".moving-", dir=path.parent) as folder:
            fresh(Path(folder))
            (Path(folder) / "state.db").rename(draft)
    done = copy(source, draft, seen)
    handle = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    draft.rename(path)
    return done


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
