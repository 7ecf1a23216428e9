"""What doctor may ask: whether there is a browser, which wall holds, and whether a page opens in it."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.types import Check, Finding
from hermes_tool_browser.config import Config
from hermes_tool_browser.finding import found, has_playwright

__all__ = ["checks"]

_PATIENCE = 4.0  # seconds: doctor gives a plugin ten for all it does
_WALLS = {
    "bubblewrap": "behind bubblewrap and Chromium's own sandbox",
    "chromium": "behind Chromium's own sandbox alone",
    "none": "without any wall, as tools.browser.wall says",
}


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        return [await _found(ctx, _PATIENCE)]

    async def full() -> Sequence[Finding]:
        return [await _found(ctx, 60.0)]

    return [Check(name="browser", run=run, full=full)]


async def _found(ctx: PluginContext, seconds: float) -> Finding:
    from hermes_tool_browser.place import wall_of

    config: Config = ctx.config or Config()
    if not has_playwright():
        return Finding(level="fault", text="playwright is not installed", fix="pip install playwright")
    if config.backend != "local":
        return Finding(level="ok", text=f"a browser of {config.backend} is used; it is reached with the first page")
    try:
        program, wall = found(config.executable), wall_of(config)
    except ToolError as error:
        return Finding(level="fault", text=error.text, fix=error.hint)
    try:
        async with asyncio.timeout(seconds):
            await _try(ctx)
    except TimeoutError:
        text = f"{program} did not come up within {seconds:g} seconds; is this machine very busy?"
        return Finding(level="warning", text=text, fix="hermes doctor --browser")
    except ToolError as error:
        return Finding(level="fault", text=error.text, fix="" if "doctor" in error.hint else error.hint)
    text = f"{program} works, {_WALLS[wall]}"
    if wall == "bubblewrap":
        return Finding(level="ok", text=text)
    return Finding(level="warning", text=text, fix="Install bubblewrap: apt install bubblewrap")


async def _try(ctx: PluginContext) -> None:
    """Start one and end it. Raises ToolError."""
    from hermes_tool_browser.backends import backend_of
    from hermes_tool_browser.browsing import Browsing
    from hermes_tool_browser.driver import Driver

    browsing = Browsing(ctx, backend_of(ctx), Driver())
    await browsing.open()
    try:
        await browsing.bounded(browsing.tab.page.evaluate("() => 6 * 7"))
    finally:
        await browsing.close()
