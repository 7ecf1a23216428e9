"""Waiting until a page has drawn what was done to it."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

__all__ = ["FRAMES", "drawn"]

FRAMES = (
    "() => new Promise(done => { setTimeout(done, 200); requestAnimationFrame(() => requestAnimationFrame(done)) })"
)
_LONGEST = 0.5  # seconds that drawing may take


async def drawn(page: "Page") -> None:
    """Wait until the page has drawn what scripts did to it; a page that is busy or asks is not waited for."""
    from playwright.async_api import Error

    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(_LONGEST):
            await page.evaluate(FRAMES)
