"""The tools that look: open a page, read it, and find one's way. None sends anything that was not on a page."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, Offer
from hermes_tool_browser.browsing import Browsing, first_line
from hermes_tool_browser.calls import NO_PAGE, alone, host_of, located, shown, working
from hermes_tool_browser.drawing import FRAMES
from hermes_tool_browser.lasting import open_one
from hermes_tool_browser.tab import Tab
from hermes_tool_kit.addresses import check_url

__all__ = ["looking"]

_FILLS = "vault_fill"
_SCROLL = """([x, y]) => {
  const page = document.scrollingElement || document.documentElement;
  const most = Math.abs(y) > 1 || Math.abs(x) > 1;
  if (most) page.scrollTo(page.scrollLeft, y > 0 ? page.scrollHeight : 0);
  else page.scrollBy(x * innerWidth * 0.9, y * innerHeight * 0.9);
}"""
_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0), "top": (0, -2), "bottom": (0, 2)}


@settings
class Navigate:
    """What the model gives."""

    url: str = option("")


@settings
class Look:
    """What the model gives."""

    full: bool = option("with addresses of links", default=False)
    page: int = option("piece of a long one", default=1, validator=ge(1))


@settings
class Scroll:
    """What the model gives."""

    direction: Literal["up", "down", "left", "right", "top", "bottom"] = option("", default="down")
    ref: str = option("element to bring into view instead", default="")


@settings
class Tabs:
    """What the model gives."""

    action: Literal["list", "select", "new", "close"] = option("", default="list")
    tab: int = option("", default=0)


@settings
class Wait:
    """What the model gives."""

    text: str = option("until it is there", default="")
    gone: str = option("until it is not", default="")
    seconds: float = option("", default=5.0, validator=[ge(0), le(60)])


def looking(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""
    return [*_pages(ctx), *_ways(ctx)]


def _may_fill(offer: Offer) -> bool:
    """Whether values that no model reads may be typed into pages here: another plugin's tool does."""
    return any(one.name == _FILLS for one in (*offer.tools, *offer.behind))


def _pages(ctx: PluginContext) -> Sequence[Tool]:
    @tool(toolset="browser", effects={Effect.NETWORK}, idempotent=True, untrusted=True, touches=_hosts, seconds=180.0)
    async def browser_navigate(context: ToolContext, given: Navigate) -> str:
        """Open a web page in the browser. Gives its accessibility tree; act on elements by their ref."""
        check_url(given.url, ctx.urls)
        browsing: Browsing = await context.resource("browser")
        notes = list[str]()
        if not await browsing.relieve():
            browsing = await context.resource("browser")
            notes.append("The page before did not let go, so the browser was started anew, without its logins.")
        async with browsing.lock:
            if _may_fill(context.offer()):
                await browsing.watch()
            tab = browsing.tab if browsing.tabs else await browsing.new_tab()
            notes += await _opened(browsing, tab, given.url)
            return "\n".join([*notes, await shown(browsing, tab, _whole(browsing, tab))])

    @tool(toolset="browser", idempotent=True, untrusted=True, touches=alone)
    async def browser_snapshot(context: ToolContext, given: Look) -> str:
        """Read the open page: its accessibility tree, with a ref at each element."""
        async with working(ctx, context) as (browsing, tab):
            if given.page > 1 and tab.snapshot is not None:
                return tab.snapshot.piece(given.page, full=given.full)
            return await shown(browsing, tab, _whole(browsing, tab, given))

    @tool(toolset="browser", untrusted=True, touches=alone)
    async def browser_back(context: ToolContext) -> str:
        """Go back to the page before."""
        async with working(ctx, context) as (browsing, tab):
            before = tab.page.url
            await browsing.act(tab, lambda: tab.page.go_back(wait_until="commit"))
            if tab.page.url == before and tab.dialog is None:
                raise ToolError("There is no page before this one.")
            tab.status = 0
            return await shown(browsing, tab, _whole(browsing, tab))

    return [browser_navigate, browser_snapshot, browser_back]


def _ways(ctx: PluginContext) -> Sequence[Tool]:
    @tool(toolset="browser", untrusted=True, touches=alone)
    async def browser_scroll(context: ToolContext, given: Scroll) -> str:
        """Scroll the page by a screen, to its end, or to an element. Tells what is new."""
        async with working(ctx, context) as (browsing, tab):
            before = tab.snapshot or await browsing.look(tab)

            async def scroll() -> None:
                if given.ref:
                    await located(tab, given.ref).scroll_into_view_if_needed()
                else:
                    await tab.page.evaluate(_SCROLL, list(_WAYS[given.direction]))
                await tab.page.evaluate(FRAMES)

            await browsing.act(tab, scroll)

            async def new() -> str:
                return (await browsing.look(tab)).changed(before)

            return await shown(browsing, tab, new)

    @tool(toolset="browser", untrusted=True, touches=alone)
    async def browser_tabs(context: ToolContext, given: Tabs) -> str:
        """List the tabs, work in another one, open or close one."""
        if given.action == "list" and open_one(ctx, context.session.id) is None:
            return NO_PAGE
        async with working(ctx, context) as (browsing, tab):
            if given.action == "select":
                other = browsing.select(given.tab)
                return await shown(browsing, other, _whole(browsing, other))
            if given.action == "new":
                await browsing.new_tab()
            elif given.action == "close":
                closed = browsing.select(given.tab) if given.tab else tab
                await browsing.bounded(closed.page.close())
            return "\n".join([*browsing.news(), *_listed(browsing)]) or NO_PAGE

    @tool(toolset="browser", idempotent=True, untrusted=True, touches=alone, seconds=120.0)
    async def browser_wait(context: ToolContext, given: Wait) -> str:
        """Wait for a text to come or go, or for some seconds. Gives the page then."""
        async with working(ctx, context) as (browsing, tab):
            missed = await _waited(browsing, tab, given)
            told = await shown(browsing, tab, _whole(browsing, tab))
            return f"{missed}\n{told}" if missed else told

    return [browser_scroll, browser_tabs, browser_wait]


def _hosts(given: Navigate) -> list[str]:
    """The resource key of a call: the host it opens. Raises OutOfReach for what is no URL."""
    return [f"host:{check_url(given.url, UrlRules(allow_private=True)).host}"]


def _whole(browsing: Browsing, tab: Tab, given: Look | None = None) -> Callable[[], Awaitable[str]]:
    async def make() -> str:
        snapshot = await browsing.look(tab)
        return snapshot.piece(given.page if given else 1, full=given.full if given else False)

    return make


def _listed(browsing: Browsing) -> list[str]:
    return [f"{'*' if one is browsing.tab else ' '} tab {one.number}: {one.page.url[:300]}" for one in browsing.tabs]


async def _opened(browsing: Browsing, tab: Tab, url: str) -> list[str]:
    """Open an address; what is to be told of how that went. Raises ToolError, OutOfReach where a rule forbids it."""
    if tab.dialog is not None:
        await browsing.answer(tab, accept=False, text="")
    before, since, notes = tab.page.url, time.monotonic(), list[str]()
    tab.status = 0
    outcome: list[str] = []

    async def go() -> None:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        try:
            response = await tab.page.goto(url, wait_until="domcontentloaded")
            tab.status = response.status if response else 0
        except Late:
            if tab.page.url == before:
                outcome.append("")
                return
            notes.append(f"It was not loaded whole within {browsing.config.seconds} seconds; this is what came.")
        except Error as error:
            outcome.append(first_line(error))

    await browsing.act(tab, go)
    _must_be_open(browsing, tab, url, since, outcome)
    if outcome == [""]:
        if not await browsing.answers():
            await browsing.unstick()
        raise ToolError(f"{host_of(url)} did not answer within {browsing.config.seconds} seconds.")
    if outcome and "ERR_ABORTED" in outcome[0] and not browsing.gave:
        notes.append("It gave no page, so the one before is still open.")
    return notes


def _must_be_open(browsing: Browsing, tab: Tab, url: str, since: float, outcome: Sequence[str]) -> None:
    """Raises OutOfReach for what the way out refused, ToolError for what the browser could not open."""
    said = outcome[0] if outcome else ""
    given = not said or "ERR_ABORTED" in said or "Download is starting" in said  # nothing, or a file
    if tab.status in _REFUSED or not given:
        for name in dict.fromkeys((host_of(tab.page.url) if tab.status else "", host_of(url), *_led_to(tab, since))):
            if why := browsing.backend.why_closed(name, since):
                raise OutOfReach(f"{name} was not opened: {why.rstrip('.')}.", opened=True)
    if outcome and not browsing.alive:
        raise browsing.gone()
    if not given:
        raise ToolError(f"{url[:300]} could not be opened: {_in_words(said)}.")


def _led_to(tab: Tab, since: float) -> list[str]:
    """The hosts of the documents that were asked for since then: where redirects led."""
    return [host_of(one.url) for one in tab.requests if one.began >= since and one.kind == "document"]


_REFUSED = (403, 502, 503, 504)  # what the way out answers with
_WORDS = {
    "ERR_NAME_NOT_RESOLVED": "its name has no address",
    "ERR_CONNECTION_REFUSED": "nothing answers there",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a circle",
    "ERR_CERT": "its certificate is not valid",
    "ERR_EMPTY_RESPONSE": "it answered nothing",
    "ERR_TUNNEL_CONNECTION_FAILED": "no connection could be made",
    "ERR_INVALID_AUTH_CREDENTIALS": "it wants a login",
}


def _in_words(said: str) -> str:
    return next((words for sign, words in _WORDS.items() if sign in said), said)


async def _waited(browsing: Browsing, tab: Tab, given: Wait) -> str:
    """Wait as wished; what did not come or go, in words."""
    if not (given.text or given.gone):
        await asyncio.sleep(given.seconds)
    came = await _became(browsing, tab, given.text, "visible", given.seconds) if given.text else True
    went = await _became(browsing, tab, given.gone, "hidden", given.seconds) if given.gone else True
    missed = (f"{given.text[:100]!r} did not come" * (not came), f"{given.gone[:100]!r} did not go" * (not went))
    words = " and ".join(filter(None, missed))
    return f"{words} in {given.seconds:g} seconds." if words else ""


async def _became(browsing: Browsing, tab: Tab, text: str, state: Literal["visible", "hidden"], seconds: float) -> bool:
    from playwright.async_api import TimeoutError as Late

    async def wait() -> bool:
        try:
            await tab.page.get_by_text(text).first.wait_for(state=state, timeout=seconds * 1000)
        except Late:
            return False
        return True

    return await browsing.bounded(wait(), seconds + 5)
