"""The tools that read what a snapshot does not show: pictures, the console, the network log, a picture of the page."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, ToolContext, ToolOutput, tool
from hermes_core.options import option, settings
from hermes_core.types import Blob, Text
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.calls import alone, shown, working
from hermes_tool_browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

__all__ = ["reading"]

_HIGHEST = 6_000  # pixels of a picture of a whole page
_SHOWN = 60  # lines
_QUALITY = 80
_IMAGES = """async () => {
  const found = [], late = [...document.images].slice(0, 100).filter(image => !image.complete);
  const came = image => new Promise(done => { for (const end of ['load', 'error']) image.addEventListener(end, done) });
  await Promise.race([Promise.all(late.map(came)), new Promise(done => setTimeout(done, 1000))]);
  for (const image of document.images) {
    if (found.length === 100) break;
    const box = image.getBoundingClientRect();
    if (box.width * box.height < 64) continue;
    found.push([String(image.currentSrc || image.src).slice(0, 500), String(image.alt).slice(0, 200),
                image.naturalWidth, image.naturalHeight]);
  }
  return JSON.stringify(found);
}"""


@settings
class Console:
    """What the model gives."""

    clear: bool = option("forget them then", default=False)


@settings
class Network:
    """What the model gives."""

    filter: str = option("part of an address", default="")


@settings
class Vision:
    """What the model gives."""

    question: str = option("what you want to see", default="")
    full: bool = option("the whole page", default=False)


def reading(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""

    @tool(toolset="browser", idempotent=True, untrusted=True, touches=alone)
    async def browser_get_images(context: ToolContext) -> str:
        """List the pictures of the page: address, alt text, size."""
        async with working(ctx, context) as (browsing, tab):
            found = json.loads(str(await browsing.bounded(tab.page.evaluate(_IMAGES)))[:100_000])
            return "\n".join(f"{src} ({w}×{h}) {alt}" for src, alt, w, h in found) or "The page has no pictures."

    @tool(toolset="browser", idempotent=True, untrusted=True, touches=alone)
    async def browser_vision(context: ToolContext, given: Vision) -> ToolOutput:
        """Take a picture of the page, to see it."""
        async with working(ctx, context) as (browsing, tab):
            data = await _picture(browsing, tab, full=given.full)
            told = await shown(browsing, tab)
            text = f"{told}\n{given.question}" if given.question else told
            return [Text(text=text), Blob(media_type="image/jpeg", data=data, name="page.jpg")]

    @tool(toolset="browser", untrusted=True, touches=alone)
    async def browser_console(context: ToolContext, given: Console) -> str:
        """Read what the page wrote to its console, errors too."""
        async with working(ctx, context) as (_, tab):
            lines = [f"{line.level}: {line.text}" for line in tab.console]
            if given.clear:
                tab.console.clear()
            return _last(lines) or "The console is empty."

    @tool(toolset="browser", idempotent=True, untrusted=True, touches=alone)
    async def browser_network(context: ToolContext, given: Network) -> str:
        """List the requests of the page."""
        async with working(ctx, context) as (_, tab):
            lines = [
                f"{one.method} {one.url[:300]} {one.failed or one.status or '…'} {one.kind} {one.took * 1000:.0f} ms"
                for one in tab.requests
                if given.filter in one.url
            ]
            return _last(lines) or "There are none."

    return [browser_get_images, browser_vision, browser_console, browser_network]


async def _picture(browsing: Browsing, tab: Tab, *, full: bool) -> bytes:
    covered = await browsing.bounded(browsing.kept.covered(tab.page))
    data = await _taken(browsing, tab, full=full, covered=covered)
    await browsing.bounded(browsing.kept.covered(tab.page))  # nothing came while it was taken
    return data


async def _taken(browsing: Browsing, tab: Tab, *, full: bool, covered: dict[str, Any]) -> bytes:
    page = tab.page
    if not full:
        return await browsing.bounded(page.screenshot(type="jpeg", quality=_QUALITY, animations="disabled", **covered))
    height = await browsing.bounded(page.evaluate("() => document.documentElement.scrollHeight"))
    high = min(max(height if isinstance(height, int) else 0, 800), _HIGHEST)
    part: FloatRect = {"x": 0, "y": 0, "width": 1280, "height": high}
    return await browsing.bounded(
        page.screenshot(type="jpeg", quality=_QUALITY, animations="disabled", full_page=True, clip=part, **covered)
    )


def _last(lines: Sequence[str]) -> str:
    left = len(lines) - _SHOWN
    return "\n".join([*([f"({left} before)"] if left > 0 else []), *lines[-_SHOWN:]])
