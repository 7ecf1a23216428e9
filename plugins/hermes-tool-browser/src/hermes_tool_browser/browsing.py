"""The browser of one session: its tabs, what is done in them, and what came of it.

Everything is done one after the other, and nothing waits longer than ``seconds``. A page that does not answer costs its
tab.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.values import define
from hermes_tool_browser.backends import Backend
from hermes_tool_browser.config import Config
from hermes_tool_browser.drawing import drawn
from hermes_tool_browser.filled import Kept
from hermes_tool_browser.snapshot import Snapshot
from hermes_tool_browser.tab import Tab
from hermes_tool_kit.addresses import check_url
from hermes_tool_kit.fields import Guard

if TYPE_CHECKING:
    from playwright.async_api import Browser, Download, Page, Route

    from hermes_tool_browser.driver import Driver, Running

__all__ = ["Browsing", "Saved", "first_line"]

_T = TypeVar("_T")
_TABS = 12  # open at one time; what a page opens beyond is closed
_DOWNLOADS = 10  # waiting to be saved
_PATIENCE = 300.0  # seconds that a dialog waits for an answer
_FRAMES = 1_000  # of a page that another one is opened in the place of
_SETTLE = 1.5  # seconds that what an act began may take to change the page
_LOOK = 20.0  # seconds that a snapshot may take
_WORDS = "() => String(document.body ? document.body.innerText : '').slice(0, 200000)"
_END = 3.0  # seconds that a tab has to close


@define(eq=False)
class Saved:
    """Something that a page gave to be saved; it lies aside until it is."""

    number: int
    name: str
    url: str
    download: "Download"


class Browsing:
    """Open it once; ``alive`` says whether it can be used."""

    def __init__(self, ctx: PluginContext, backend: Backend, driver: "Driver") -> None:
        self.ctx, self.backend, self._driver = ctx, backend, driver
        self.config: Config = ctx.config or Config()
        self.lock = asyncio.Lock()
        self.tabs: list[Tab] = []
        self.downloads: dict[int, Saved] = {}
        self.kept = Kept()
        self.acts = 0
        self.alive = self._watched = False
        self._current = 0
        self._count = self._saved = 0
        self._gave = asyncio.Event()
        self._news: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: Running | None = None
        self._browser: Browser | None = None

    async def open(self) -> None:
        """Start the browser. Raises ToolError; nothing stays open then."""
        self.backend.check()
        self._running = await self._driver.take()
        try:
            self._browser = browser = await self.backend.open(self._running.playwright)
            browser.on("disconnected", self._is_gone)
            self._context = await browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
            self._context.set_default_timeout(self.config.seconds * 1000)
            self._context.on("page", self._opened)
            if not self.backend.here:  # no way out of ours bounds it, so what it asks for is looked at by name
                await self._context.route("**/*", self._judge)
            self.alive = True
            await self._context.new_page()
        except BaseException:
            await asyncio.shield(self.close())
            raise

    def _is_gone(self, _browser: "Browser") -> None:
        self.alive = False

    async def watch(self) -> None:
        """Look at each request from now on. What a document prefetches is only seen where it was opened after this."""
        if not self._watched:
            self._watched = True
            await self._context.route("**/*", self.kept.judge)

    async def guard(self, guard: Guard, origins: Sequence[str]) -> None:
        """Watch over values that are about to be typed into documents of these origins."""
        await self.watch()
        self.kept.begin(guard, origins)

    async def _judge(self, route: "Route") -> None:
        try:
            check_url(route.request.url, self.ctx.urls)
        except OutOfReach:
            await route.abort("accessdenied")
        else:
            await route.continue_()

    # --- tabs -----------------------------------------------------------------------------------------------------

    def _opened(self, page: "Page") -> None:
        if len(self.tabs) >= _TABS:
            self._news.append(f"A page wanted more than {_TABS} tabs; what it opened was closed.")
            self._begin(page.close())
            return
        self._count += 1
        tab = Tab(page, self._count, self.config.dialogs, _PATIENCE)
        if self.tabs:
            self._news.append(f"A new tab was opened: {tab.number}.")
        self.tabs.append(tab)
        self._current = self._current or tab.number
        page.on("close", lambda _: self._closed(tab))
        page.on("download", self._offered)

    def _closed(self, tab: Tab) -> None:
        tab.close()
        if tab in self.tabs:
            self.tabs.remove(tab)
        if self._current == tab.number:
            self._current = self.tabs[-1].number if self.tabs else 0
        if not self.tabs:
            self.kept.forget()

    @property
    def tab(self) -> Tab:
        """The one that is worked in. Raises ToolError."""
        for tab in self.tabs:
            if tab.number == self._current:
                return tab
        raise ToolError("No page is open.", hint="Open one with browser_navigate.")

    async def new_tab(self) -> Tab:
        """Another one, which is worked in from now on. Raises ToolError."""
        if len(self.tabs) >= _TABS:
            raise ToolError(f"{_TABS} tabs are open, the most there may be.", hint="Close one with browser_tabs.")
        before = set(self.tabs)
        await self.bounded(self._context.new_page())
        (tab,) = (one for one in self.tabs if one not in before)
        self._news.clear()
        self._current = tab.number
        return tab

    async def relieve(self) -> bool:
        """Close a tab whose page has too many frames to be left in time; False where that cannot be done either."""
        async with self.lock:
            if self.alive and self.tabs and len(self.tab.page.frames) > _FRAMES:
                await self.unstick()
            return self.alive

    def select(self, number: int) -> Tab:
        """Work in another one. Raises ToolError."""
        if number not in [tab.number for tab in self.tabs]:
            raise ToolError(f"There is no tab {number}.", hint="browser_tabs lists them.")
        self._current = number
        return self.tab

    # --- downloads ------------------------------------------------------------------------------------------------

    def _offered(self, download: "Download") -> None:
        if len(self.downloads) >= _DOWNLOADS:
            self._news.append(f"{_DOWNLOADS} downloads wait; another was refused. Save what you want of them.")
            self._begin(download.cancel())
            return
        self._saved += 1
        self._gave.set()
        self.downloads[self._saved] = Saved(self._saved, download.suggested_filename, download.url, download)
        self._news.append(
            f"The page gives a file: download {self._saved}, {download.suggested_filename!r}. `browser_save` writes it "
            "into the workspace."
        )

    @property
    def gave(self) -> bool:
        """Whether the last act made the page give a file."""
        return self._gave.is_set()

    # --- doing ----------------------------------------------------------------------------------------------------

    def news(self) -> list[str]:
        """What happened by itself since the last time."""
        told, self._news = list(dict.fromkeys(self._news)), []
        for tab in self.tabs:
            told += tab.answered
            tab.answered.clear()
            if tab.dialog is not None:
                told.append(
                    f"Tab {tab.number} is stopped by a dialog ({tab.dialog.type}): {tab.dialog.message[:500]!r}. "
                    "Answer it with browser_dialog."
                )
        return told

    async def bounded(self, work: Awaitable[_T], seconds: float = 0.0) -> _T:
        """What work gives, in time. Raises ToolError for what a browser says, and where it says nothing."""
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        try:
            async with asyncio.timeout(seconds or self.config.seconds + 2.0):
                return await work
        except Late as error:
            if await self.answers():
                raise ToolError(_late(error, self.config.seconds)) from error
        except Error as error:
            raise self._failed(error) from error
        except TimeoutError:
            pass
        await self.unstick()
        raise ToolError("The page did not answer, so its tab was closed.", hint="Open it again, or another one.")

    async def answers(self) -> bool:
        """Whether the page that is worked in says anything; one that is stopped by a dialog does not have to."""
        if not self.tabs or self.tab.dialog is not None:
            return True
        try:
            async with asyncio.timeout(_END):
                await self.tab.page.evaluate("() => 0")
        except Exception:  # noqa: BLE001 - whatever it was, it is no answer
            return not self.alive
        return True

    def _failed(self, error: Exception) -> ToolError:
        if not self.alive or (self._browser is not None and not self._browser.is_connected()):
            return self.gone()
        if any(tab.crashed for tab in self.tabs):
            for tab in [tab for tab in self.tabs if tab.crashed]:
                self._begin(tab.page.close())
            return ToolError("The page crashed and was closed.", hint="Open it again, or another one.")
        return ToolError(first_line(error))

    def gone(self) -> ToolError:
        """Say that it cannot be used any more, and why."""
        self.alive = False
        why = self.backend.why_gone() or "it ended by itself"
        return ToolError(f"The browser is gone: {why}.", hint="The next call of browser_navigate starts another.")

    async def unstick(self) -> None:
        """Close the tab that does not answer; where that does not work either, the browser is of no use any more."""
        with contextlib.suppress(ToolError):
            tab = self.tab
            try:
                async with asyncio.timeout(_END):
                    await tab.page.close()
            except Exception:  # noqa: BLE001 - whatever it was, it cannot be used
                self.alive = False
            self._closed(tab)

    async def act(self, tab: Tab, doing: Callable[[], Awaitable[Any]]) -> None:
        """Do something in a tab, and wait until what it began has changed the page; or a dialog stops it."""
        if tab.dialog is not None:
            raise ToolError(
                f"The page waits for an answer to a dialog ({tab.dialog.type}): {tab.dialog.message[:500]!r}",
                hint="Answer it with browser_dialog.",
            )
        self.acts += 1
        self._gave.clear()
        since = time.monotonic()
        work = asyncio.ensure_future(self.bounded(doing()))
        if await self._until_asked(tab, work):
            await self._settle(tab, since)

    async def _until_asked(self, tab: Tab, work: "asyncio.Future[Any]") -> bool:
        """Wait for work; whether it is done, and not stopped by a dialog. Raises what it raises."""
        asked = asyncio.ensure_future(tab.asked.wait())
        try:
            await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            work.cancel()
            raise
        finally:
            asked.cancel()
        if not work.done():
            tab.stuck = work
            work.add_done_callback(_heard)
            return False
        await work
        return True

    async def answer(self, tab: Tab, *, accept: bool, text: str) -> None:
        """Answer the dialog of a tab, and let what it stopped go on. Raises ToolError."""
        if tab.dialog is None:
            raise ToolError("No dialog is open.")
        since = time.monotonic()
        work, tab.stuck = tab.stuck, None
        await self.bounded(tab.answer(accept=accept, text=text))
        if work is None or await self._until_asked(tab, work):
            await self._settle(tab, since)

    async def _settle(self, tab: Tab, since: float) -> None:
        """Wait for what began since then: a document as long as it takes, what else it fetches for a moment."""
        documents = frozenset({"document"})
        if tab.under_way(since, documents):
            await tab.quiet(since, self.config.seconds, documents)
            await self._loaded(tab, self.config.seconds)
        await tab.quiet(since, _SETTLE)
        if any(one.kind == "document" and one.failed and one.began >= since for one in tab.requests):
            with contextlib.suppress(TimeoutError):  # it became a download, which is told a little later
                async with asyncio.timeout(_SETTLE):
                    await self._gave.wait()
        if tab.dialog is None:
            await drawn(tab.page)

    async def _loaded(self, tab: Tab, seconds: float) -> bool:
        """Wait for the document; whether it came in time."""
        from playwright.async_api import Error

        with contextlib.suppress(Error):
            await tab.page.wait_for_load_state("domcontentloaded", timeout=seconds * 1000)
            return True
        return False

    async def look(self, tab: Tab) -> Snapshot:
        """Take a snapshot. Of a page that is stuck half way its text alone. Raises ToolError."""
        seconds = max(5.0, min(self.config.seconds, _LOOK))
        try:
            text = await self.bounded(tab.page.aria_snapshot(mode="ai", timeout=seconds * 1000), seconds + 2.0)
        except ToolError:
            if tab not in self.tabs:
                raise
            words = await self.bounded(tab.page.evaluate(_WORDS), _END)
            text = "\n".join(f"- text: {line}" for line in str(words).splitlines() if line.strip())
        tab.snapshot = Snapshot(text, tab.page.url)
        return tab.snapshot

    # --- the end --------------------------------------------------------------------------------------------------

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the browser with all it started."""
        self.alive = False
        for tab in self.tabs:
            tab.close()
        for task in list(self._tasks):
            task.cancel()
        browser, self._browser = self._browser, None
        broken = False
        if browser is not None:
            try:
                async with asyncio.timeout(_END):
                    await browser.close()
            except Exception:  # noqa: BLE001 - what is left of it is ended below
                broken = True
        await self.backend.close()
        running, self._running = self._running, None
        if running is not None:
            await self._driver.give(running, broken=broken)

    def describe(self) -> str:
        """Say how it is, in a line."""
        page = self.tabs[0].page.url if self.tabs else "no page"
        for tab in self.tabs:
            if tab.number == self._current:
                page = tab.page.url
        many = f", {len(self.tabs)} tabs" if len(self.tabs) > 1 else ""
        return f"{self.backend.describe()}: {page[:100]}{many}"


def _heard(work: "asyncio.Future[Any]") -> None:
    """What was stopped by a dialog may fail when nobody waits for it any more."""
    if not work.cancelled():
        work.exception()


async def _quietly(work: Awaitable[Any]) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await work


def _late(error: Exception, seconds: int) -> str:
    """What did not come about in time, and what playwright was waiting for at last."""
    log = [line.strip(" -") for line in str(error).splitlines()]
    why = next((line for line in reversed(log) if line.startswith(("element is", "element was", "<"))), "")
    return f"It did not come about within {seconds} seconds{f': {why[:300]}' if why else ''}."


def first_line(error: Exception) -> str:
    """What playwright says, in a sentence, without its log of what it tried."""
    text = str(error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return line.partition(": ")[2][:500] if line.startswith(("Page.", "Locator.", "Frame.", "Dialog.")) else line[:500]
