"""The process of playwright that speaks to browsers: one for all sessions of a Hermes, gone with the last of them.

It is started with a clean environment, a temporary folder of its own, and nothing to write on the person's screen.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.values import define
from hermes_tool_browser import scratch
from hermes_tool_browser.finding import has_playwright

if TYPE_CHECKING:
    from playwright.async_api import Playwright

__all__ = ["Driver", "Running"]

_NODE = "PLAYWRIGHT_NODEJS_PATH"
_MEGABYTES = 1_024  # what a page makes it hold
_SCRIPT = """#!/bin/sh
exec env -i {variables} {new_session} {node} --max-old-space-size={megabytes} "$@" 2>/dev/null
"""


@define(eq=False)
class Running:
    """A driver that runs, its folder, and how many browsers need it."""

    playwright: "Playwright"
    folder: Path
    users: int = 0


class Driver:
    """Starts it for the first browser and stops it behind the last. ``take`` and ``give`` go together."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._running: Running | None = None

    async def take(self) -> Running:
        """The driver, started where none runs. Raises ToolError."""
        async with self._lock:
            if self._running is None:
                self._running = await _started()
            self._running.users += 1
            return self._running

    async def give(self, running: Running, *, broken: bool = False) -> None:
        """It is needed no more by one of those who took it; a ``broken`` one is not given to others."""
        async with self._lock:
            running.users -= 1
            if self._running is running and (broken or running.users <= 0):
                self._running = None
            if running.users <= 0:
                await running.playwright.stop()
                scratch.removed(running.folder)


async def _started() -> Running:
    if not has_playwright():
        raise ToolError("Playwright is not installed.", hint="Run: pip install playwright", retry=False)
    from playwright.async_api import Error, async_playwright

    scratch.sweep()
    mark = os.urandom(16).hex()
    folder = scratch.made(mark)
    theirs = os.environ.get(_NODE)
    os.environ[_NODE] = str(_script(folder, theirs, mark))  # playwright knows no other way to say it
    starting = asyncio.ensure_future(async_playwright().start())
    try:
        return Running(await asyncio.shield(starting), folder)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):  # it is not wanted any more, and it cannot be ended before it runs
            await (await starting).stop()
        scratch.removed(folder)
        raise
    except (Error, OSError) as error:
        scratch.removed(folder)
        raise ToolError(f"Playwright could not be started: {str(error)[:300]}", retry=False) from error
    finally:
        if theirs is None:
            os.environ.pop(_NODE, None)
        else:
            os.environ[_NODE] = theirs


def _script(folder: Path, node: str | None, mark: str) -> Path:
    import playwright

    node = node or str(Path(playwright.__file__).with_name("driver") / "node")
    variables = {
        "PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8",
        "PW_LANG_NAME": "python", MARK: mark,
    }  # fmt: skip
    if display := os.environ.get("DISPLAY"):
        variables["DISPLAY"] = display
    path = folder / "node"
    path.write_text(
        _SCRIPT.format(
            variables=" ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items()),
            new_session=shutil.which("setsid") or "",  # Ctrl-C in the person's terminal is Hermes' business
            node=shlex.quote(node),
            megabytes=_MEGABYTES,
        )
    )
    path.chmod(0o700)
    return path
