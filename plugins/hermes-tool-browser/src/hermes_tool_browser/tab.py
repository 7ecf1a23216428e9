"""One tab: its page, what it said and asked for, and what is under way in it."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from hermes_core.values import define, frozen
from hermes_tool_browser.snapshot import Snapshot

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Dialog, Page, Request, Response

__all__ = ["WAITED_FOR", "Exchange", "Line", "Tab"]

_LINES = 200  # of its console
_REQUESTS = 300
_TEXT = 1_000  # characters of one line
_OPEN = 2_000  # requests that are followed at one time
WAITED_FOR = frozenset({"document", "xhr", "fetch", "script"})


@define(eq=False)
class Exchange:
    """One request of a page; ``status`` is 0 as long as nothing came."""

    method: str
    url: str
    kind: str
    status: int = 0
    failed: str = ""
    began: float = 0.0
    took: float = 0.0


@frozen(kw_only=True)
class Line:
    """One line of a console."""

    level: str
    text: str


class Tab:
    """Listens to its page as long as that lives. ``number`` is how a model names it."""

    def __init__(self, page: "Page", number: int, dialogs: str, patience: float) -> None:
        self.page, self.number = page, number
        self.console: deque[Line] = deque(maxlen=_LINES)
        self.requests: deque[Exchange] = deque(maxlen=_REQUESTS)
        self.status = 0  # of the document
        self.dialog: Dialog | None = None
        self.asked = asyncio.Event()  # a dialog is open
        self.answered: deque[str] = deque(maxlen=10)  # dialogs that were answered without the model
        self.snapshot: Snapshot | None = None
        self.stuck: asyncio.Future[object] | None = None  # what waits for the dialog
        self.crashed = False
        self._dialogs, self._patience = dialogs, patience
        self._open: dict[Request, Exchange] = {}
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("crash", self._has_crashed)
        page.on("dialog", self._is_asked)
        page.on("request", self._begins)
        page.on("response", self._answered)
        page.on("requestfinished", self._ends)
        page.on("requestfailed", self._fails)

    # --- what the page says ---------------------------------------------------------------------------------------

    def _said(self, message: "ConsoleMessage") -> None:
        self._note(message.type, message.text)

    def _note(self, level: str, text: str) -> None:
        self.console.append(Line(level=level, text=text[:_TEXT]))

    def _has_crashed(self, _page: "Page") -> None:
        self.crashed = True
        self._note("error", "the page crashed")

    # --- what it asks for -----------------------------------------------------------------------------------------

    def _begins(self, request: "Request") -> None:
        made = Exchange(request.method, request.url[:_TEXT], request.resource_type, began=time.monotonic())
        self.requests.append(made)
        if len(self._open) < _OPEN:
            self._open[request] = made

    def _answered(self, response: "Response") -> None:
        if made := self._open.get(response.request):
            made.status = response.status

    def _ends(self, request: "Request") -> None:
        self._over(request, "")

    def _fails(self, request: "Request") -> None:
        self._over(request, request.failure or "failed")

    def _over(self, request: "Request", failed: str) -> None:
        if made := self._open.pop(request, None):
            made.failed, made.took = failed, time.monotonic() - made.began
        self._changed.set()

    def under_way(self, since: float, kinds: frozenset[str] = WAITED_FOR) -> bool:
        """Whether something that began since then is under way and may change the page."""
        return any(one.began >= since and one.kind in kinds for one in self._open.values())

    async def quiet(self, since: float, seconds: float, kinds: frozenset[str] = WAITED_FOR) -> None:
        """Wait until nothing of that is under way any more, or for that long."""
        try:
            async with asyncio.timeout(seconds):
                while self.under_way(since, kinds):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass

    # --- dialogs --------------------------------------------------------------------------------------------------

    def _is_asked(self, dialog: "Dialog") -> None:
        always = "accept" if dialog.type == "beforeunload" else self._dialogs  # leaving is what was asked for
        if always != "ask":
            self.answered.append(f"The {dialog.type} {dialog.message[:300]!r} was answered: {always}.")
            self._begin(dialog.accept() if always == "accept" else dialog.dismiss())
            return
        self.dialog = dialog
        self.asked.set()
        self._begin(self._end_late(dialog))

    async def _end_late(self, dialog: "Dialog") -> None:
        await asyncio.sleep(self._patience)
        if self.dialog is dialog:
            self.answered.append(f"The {dialog.type} {dialog.message[:300]!r} was dismissed: nothing answered it.")
            await self.answer(accept=False)

    async def answer(self, *, accept: bool, text: str = "") -> None:
        """Answer the open dialog."""
        dialog, self.dialog = self.dialog, None
        self.asked.clear()
        if dialog is not None:
            if not accept:
                await dialog.dismiss()
            elif dialog.type == "prompt":
                await dialog.accept(text)
            else:
                await dialog.accept()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Let go of what waits."""
        for task in list(self._tasks):
            task.cancel()
        if self.stuck is not None:
            self.stuck.cancel()


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):  # the page has gone meanwhile
        await work
