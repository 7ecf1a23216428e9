"""Whether a home ever had anything of a plugin's: one that never had is looked at without making its tables."""

import contextlib
import fcntl
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["awaited", "is_awaited", "is_used", "mark_used"]

_USED, _AWAITED = "used", "awaited"


@contextlib.contextmanager
def awaited(ctx: "PluginContext") -> Iterator[None]:
    """Let others know, until the block ends, that this process waits for the first thing of the plugin's.

    It ends with the process, however that ends.
    """
    ctx.paths.data.mkdir(parents=True, exist_ok=True)
    with (ctx.paths.data / _AWAITED).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def is_awaited(ctx: "PluginContext") -> bool:
    """Tell whether a process of this home waits for the first thing of the plugin's, and will take it up."""
    try:
        with (ctx.paths.data / _AWAITED).open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def mark_used(ctx: "PluginContext") -> None:
    """Write down that this home has something of the plugin's."""
    ctx.paths.data.mkdir(parents=True, exist_ok=True)
    (ctx.paths.data / _USED).touch()


def is_used(ctx: "PluginContext", rows: str) -> bool:
    """Tell whether it ever had, or its tables were opened here: ``rows`` is what the plugin's state has them under."""
    return rows in ctx.state or (ctx.paths.data / _USED).exists()
