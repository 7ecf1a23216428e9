"""An app whose faults go to the log, not to the person's screen."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual import events
from textual.app import App
from textual.worker import WorkerFailed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hermes_platform_tui.terminal.restore import Restorer

__all__ = ["SafeApp"]

log = logging.getLogger(f"hermes.{__name__}")
R = TypeVar("R")


class SafeApp(App[R], Generic[R]):
    """A base for apps that ``run_safely`` runs.

    Textual prints a fault with all local variables, keys among them, over what the person had on the terminal.
    ``crash`` is the first fault, or None; ``restorer`` stands around the run.
    """

    crash: BaseException | None = None
    restorer: "Restorer | None" = None
    _loops_tasks: tuple[Any, ...] = ()
    _early: list[events.Event] | None = None

    def hold_input(self) -> None:
        """Keep what is typed until ``release_input``: before the first frame Textual has nobody to give it to."""
        self._early = []

    async def release_input(self) -> None:
        """Hand on what was typed meanwhile, in order."""
        while self._early:
            await super().on_event(self._early.pop(0))
        self._early = None

    async def on_event(self, event: events.Event) -> None:
        """As Textual's, but what is typed may be held."""
        if self._early is not None and isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._early.append(event)
            return
        await super().on_event(event)

    def panic(self, *renderables: "RenderableType") -> None:
        """End because of what Textual would print."""
        if self.crash is None:
            self.crash = RuntimeError(" ".join(str(one) for one in renderables) or "Textual gave up")
            log.error("the app gave up: %s", self.crash)
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.crash is None:
            self.crash = cause
        log.error("a fault ended the app", exc_info=cause)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        if self.crash is not None:
            self._exit_renderables.clear()
        super()._print_error_renderables()

    async def run_async(self, **options: Any) -> R | None:
        """As Textual's, in a loop that stays as it is."""
        self._loops_tasks = (asyncio.get_running_loop().get_task_factory(),)
        return await super().run_async(**options)

    async def _process_messages(self, *arguments: Any, **options: Any) -> None:
        # From Python 3.12 on Textual makes every new task of the loop eager, and this loop is not its own.
        if self._loops_tasks:
            asyncio.get_running_loop().set_task_factory(*self._loops_tasks)
        await super()._process_messages(*arguments, **options)
