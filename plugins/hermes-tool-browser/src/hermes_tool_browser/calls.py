"""What every tool of the browser begins and ends with."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_tool_browser.lasting import open_one

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from hermes_tool_browser.browsing import Browsing
    from hermes_tool_browser.tab import Tab

__all__ = ["NO_PAGE", "alone", "host_of", "located", "reference", "shown", "working"]

NO_PAGE = "No page is open."
_REF = re.compile(r"(?:f\d+)*e\d+")
_TITLE = 300  # characters


def alone(_: object) -> list[str]:
    """The resource key of everything that works in the one browser of a session."""
    return ["browser"]


@asynccontextmanager
async def working(ctx: PluginContext, context: ToolContext) -> "AsyncIterator[tuple[Browsing, Tab]]":
    """The browser of this session and the tab that is worked in, for this call alone. Raises ToolError without one."""
    if open_one(ctx, context.session.id) is None:
        raise ToolError(NO_PAGE, hint="Open one with browser_navigate; a browser that was not used for long is closed.")
    browsing: Browsing = await context.resource("browser")
    async with browsing.lock:
        yield browsing, browsing.tab


def reference(text: str) -> str:
    """A reference as a snapshot writes it. Raises ToolError."""
    ref = text.strip().strip("[]").removeprefix("@").removeprefix("ref=")
    if not _REF.fullmatch(ref):
        raise ToolError(f"{text[:100]!r} is no reference of an element.", hint="Take one of browser_snapshot, as e12.")
    return ref


def located(tab: "Tab", text: str) -> "Locator":
    """The element of a reference. Raises ToolError for one that no snapshot of this page gave."""
    ref = reference(text)
    if tab.snapshot is None or ref not in tab.snapshot.elements:
        raise ToolError(f"The last snapshot of this page has no {ref}.", hint="Take a new one: browser_snapshot.")
    return tab.page.locator(f"aria-ref={ref}")


def host_of(url: str) -> str:
    """The host of an address that a browser shows; empty where it has none."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


async def shown(browsing: "Browsing", tab: "Tab", make: Callable[[], Awaitable[str]] | None = None) -> str:
    """Where the tab is, what happened by itself, and what ``make`` says of a new snapshot of it."""
    body, title = "", ""
    if tab.dialog is None:
        asking = asyncio.ensure_future(browsing.bounded(tab.page.title()))  # on its way while the page is looked at
        try:
            body = await make() if make is not None else ""
            title = (await asking)[:_TITLE]
        finally:
            asking.cancel()
    status = f" (HTTP {tab.status})" if tab.status >= 400 else ""
    lines = [f"{tab.page.url[:2_000]}{status}", f"Title: {title}" if title else "", *browsing.news(), body]
    return "\n".join(line for line in lines if line)
