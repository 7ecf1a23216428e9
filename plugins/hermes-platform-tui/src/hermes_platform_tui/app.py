"""The screen: conversations in tabs, a status bar, and everything that opens above them."""

import asyncio
import contextlib
import gc
import getpass
import os
import signal
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher

from hermes_core.errors import HermesError
from hermes_platform_tui.config import Config
from hermes_platform_tui.distant import Distant
from hermes_platform_tui.look.driver import BackgroundSeen
from hermes_platform_tui.look.first import FirstScreen
from hermes_platform_tui.look.statusbar import Detail, StatusBar
from hermes_platform_tui.look.themes import variable_defaults
from hermes_platform_tui.look.wardrobe import Wardrobe
from hermes_platform_tui.overlays import Overlays
from hermes_platform_tui.questions import Questions
from hermes_platform_tui.tabs import FIRST, TabRow, Tabs
from hermes_platform_tui.terminal.safe import SafeApp
from hermes_platform_tui.terminal.terminal import Terminal
from hermes_platform_tui.view import ChatView
from hermes_platform_tui.view_notices import Arrived, Changed, Rested

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.kinds import Console
    from hermes_core.types import Envelope, Event, Message, SlashCommand
    from hermes_platform_tui.distant import Around
    from hermes_platform_tui.screens.palette import Entry
    from hermes_platform_tui.transcript import Transcript

__all__ = ["HermesApp"]

_AGAIN = 2.0  # seconds in which a second Ctrl+C leaves
_LONG = 5.0  # seconds a turn takes before its end is worth a notice to somebody who looks elsewhere


def _palette() -> type[Provider]:
    from hermes_platform_tui.screens.palette import EverythingProvider

    return EverythingProvider


class HermesApp(SafeApp[int]):
    """The full-screen terminal. ``drawn`` is set when the first frame is on the screen.

    It has ``tabs`` with conversations, ``questions`` to put, ``overlays`` of screens, a ``wardrobe`` of skins, and the
    ``terminal`` around it.
    """

    TITLE = "Hermes"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {_palette}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "open('keys')", "Help", show=False),
        Binding("f2", "open('sessions')", "Sessions", show=False),
        Binding("f3", "open('models')", "Model", show=False),
        Binding("f4", "open('work')", "Work", show=False),
        Binding("f5", "open('usage')", "Usage", show=False),
        Binding("f8", "open('screens')", "Screens", show=False),
        Binding("f9", "open('settings')", "Settings", show=False),
        Binding("ctrl+t", "new_tab", "New tab", show=False),
        Binding("alt+w", "close_tab", "Close tab", show=False, priority=True),
        Binding("ctrl+pagedown,alt+right", "next_tab(1)", "Next tab", show=False, priority=True),
        Binding("ctrl+pageup,alt+left", "next_tab(-1)", "Previous tab", show=False, priority=True),
        *(Binding(f"alt+{n}", f"tab({n})", f"Tab {n}", show=False, priority=True) for n in range(1, 10)),
        Binding("ctrl+l", "redraw", "Draw anew", show=False, priority=True),
        Binding("ctrl+c", "stop", "Stop", show=False, priority=True),
        Binding("ctrl+q", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
    ]

    def __init__(self, config: Config, ctx: "Around", console: "Console", send: Callable[["Envelope"], None]) -> None:
        self.settings_of_screen, self.ctx, self.talks = config, ctx, console
        super().__init__()
        self.wardrobe, self.terminal = Wardrobe(self, config, ctx.paths.home), Terminal(self, config)
        self.overlays, self.questions = Overlays(self), Questions(self)
        self.drawn = asyncio.Event()
        self.caught_up = asyncio.Event()  # what was said before is shown
        self.hold_input()
        self.prepared = False
        self.statusbar_shown = config.statusbar != "off"
        self._send = send
        self.person = _user()
        self._stopped_at = float("-inf")
        self.leaving = False
        self.tabs = Tabs(self, self._make_view)
        self.view = self.tabs.views[0]  # the conversation that is looked at

    async def whole(self) -> "PluginContext":
        """All that a plugin gets: a screen that knows a host alone opens a kernel for it, once. Raises HermesError."""
        return await self.ctx.open() if isinstance(self.ctx, Distant) else self.ctx

    def get_default_screen(self) -> FirstScreen:
        """The screen that is there from the beginning."""
        return FirstScreen(id="_default")

    def compose(self) -> ComposeResult:
        """The conversations, the status bar. The row of tabs, which one tab does not show, comes after them."""
        with Horizontal(id="middle"), ContentSwitcher(id="views", initial=self.view.id):
            yield self.view
        config = self.settings_of_screen
        yield StatusBar(detail=config.statusbar, indicator=config.indicator, spinner=self.wardrobe.skin.spinner)

    def on_mount(self) -> None:
        """Show the first frame; whatever else is needed comes after it."""
        self.view.composer.focus_input()
        self.app_resume_signal.subscribe(self, lambda _: self.terminal.window.again())
        self.call_after_refresh(self._first_frame)

    async def _first_frame(self) -> None:
        self.drawn.set()
        await self.release_input()
        await self.view.furnish()
        await self.mount(TabRow(), before=0)
        self.prepare()

    @work(exclusive=True, group="prepare", exit_on_error=False)
    async def prepare(self) -> None:
        """Find who answers, and what was said before."""
        try:
            await self._catch_up()
        finally:  # whatever broke, what goes on is shown
            self.caught_up.set()
        self._greet()
        await self.view.see_wall()
        self.show_facts()
        gc.collect()
        # What is there now stays, and a screen makes much that goes by itself: to look for it often holds up keys.
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)

    async def _catch_up(self) -> None:
        try:
            await self.talks.prepare()
        except HermesError as error:
            self.view.transcript.fail(error.text, error.hint)
        self.prepared = True
        await asyncio.to_thread(import_module, "hermes_platform_tui.transcript.blocks")  # what is said is shown by it
        try:
            await self.view.start()
        except HermesError as error:
            self.view.transcript.fail(error.text, error.hint)

    def _greet(self) -> None:
        status = self.talks.status(self.view.chat)
        if self.view.transcript.is_empty:
            from hermes_platform_kit.product import version_of
            from hermes_platform_tui.greeting import greeting

            version = version_of(getattr(self.ctx, "program", "hermes"))  # only Hermes itself has hosts
            self.view.greet(greeting(version, status, self.wardrobe.skin, rows=self.size.height))
        for line in (*status.get("notice", "").split("\n"), *self.wardrobe.problems):
            if line:
                self.view.transcript.note(line)

    # --- between the kernel and the conversations -------------------------------------------------------------------

    def deliver(self, chat: str, what: "Event | Message") -> None:
        """Show something in a chat; one that is not there any more shows nothing."""
        view = self.tabs.of(chat)
        if view is None or self.leaving:
            return
        if view is not self.view and not view.unseen:
            view.unseen = True
            self.call_later(self.tabs.show)
        view.post_message(Arrived(what))

    @on(Rested)
    def _rested(self, event: Rested) -> None:
        if event.seconds >= _LONG:
            words = {"done": "is done", "failed": "failed", "interrupted": "was stopped"}[event.ended.reason]
            self.terminal.notifier.tell(f"Hermes {words}", event.ended.answer or event.view.facts.title)

    @on(Changed)
    def _changed(self, event: Changed) -> None:
        self.tabs.show()
        if event.view is self.view:
            self.show_facts()

    def show_facts(self) -> None:
        """Show of the conversation that is looked at what there is to know of it."""
        if self.is_attached_to_screen:
            self.query_one(StatusBar).facts = self.view.facts
            self.terminal.name_window(self.view.facts.title)

    @property
    def is_attached_to_screen(self) -> bool:
        """Whether there is anything to draw on."""
        return bool(self._running and self.screen_stack and self.screen_stack[0].is_attached)

    def begin(self, command: "SlashCommand") -> None:
        """Run a command that needs no words; begin to write one that does."""
        if command.usage and not command.usage.startswith("["):
            self.view.composer.set_text(f"/{command.name} ")
            self.view.composer.focus_input()
        else:
            self.view.say(f"/{command.name}")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables, for themes that are not ours."""
        return variable_defaults()

    def action_open(self, name: str) -> None:
        """Open a screen by its name."""
        self.overlays.open(name)

    def action_find(self) -> None:
        """Search this conversation."""
        self.view.action_search()

    # --- tabs -------------------------------------------------------------------------------------------------------

    def _make_view(self, chat: str, session: str) -> ChatView:
        history = self.ctx.paths.data / "history.jsonl" if self.settings_of_screen.history else None
        return ChatView(
            chat,
            config=self.settings_of_screen,
            ctx=self.ctx,
            console=self.talks,
            person=self.person,
            send=self._send,
            history=history,
            session=session,
            furnished=bool(session) or chat != FIRST,
        )

    @on(TabRow.Chosen)
    async def _tab_chosen(self, event: TabRow.Chosen) -> None:
        await self.tabs.look_at(event.view)

    async def action_new_tab(self) -> None:
        """A new conversation beside this one."""
        await self.tabs.open()

    async def action_close_tab(self) -> None:
        """Close this one."""
        await self.tabs.close()

    async def action_next_tab(self, step: int) -> None:
        """The conversation beside this one."""
        await self.tabs.step(step)

    async def action_tab(self, number: int) -> None:
        """A conversation by its place."""
        await self.tabs.go_to(number)

    # --- stopping and leaving -----------------------------------------------------------------------------------------

    async def action_stop(self) -> None:
        """Ctrl+C: copy what is selected, else stop the turn, else clear what is typed; twice leaves."""
        if selected := self.screen.get_selected_text():
            self.terminal.copy(selected)
            self.screen.clear_selection()
            return
        now = asyncio.get_running_loop().time()
        if now - self._stopped_at <= _AGAIN:
            self.leave()
            return
        self._stopped_at = now
        if await self.view.interrupt():  # a turn, or what is said aloud beside it
            self.notify("Stopping. Ctrl+C again leaves.", timeout=_AGAIN)
        elif self.view.composer.text or self.view.composer.attachments:
            self.view.composer.clear()
        else:
            self.notify("Ctrl+C again leaves.", timeout=_AGAIN)

    async def action_leave(self) -> None:
        """Leave; what runs is stopped first."""
        self.leave()

    def leave(self) -> None:
        """End the screen in good order."""
        if self.leaving:
            return
        self.leaving = True
        # Ended from outside, its turns are left as a death leaves them: whoever drives the console sees to that.
        left = self.restorer is not None and self.restorer.caught in (signal.SIGTERM, signal.SIGHUP)
        for view in self.tabs.views:
            for waiting in view.waiting:
                waiting.answer.cancel()
            if view.facts.busy and not left:
                task = asyncio.ensure_future(view.interrupt())
                self._last_tasks = [*getattr(self, "_last_tasks", ()), task]
        self.exit(0)

    def on_background_seen(self, event: BackgroundSeen) -> None:
        """The terminal told its background."""
        self.wardrobe.seen_on(event.colour)

    def on_screen_resume(self) -> None:
        """A dialog has closed: a question may have waited for it."""
        self.call_later(self.questions.put)

    def on_work_panel_left(self) -> None:
        """Back from the panel to the conversation; the panel stays."""
        self.view.composer.focus_input()

    def on_transcript_copied(self, event: "Transcript.Copied") -> None:
        """Something is wanted on the clipboard."""
        event.stop()
        self.terminal.copy(event.text)

    def on_transcript_link_opened(self, event: "Transcript.LinkOpened") -> None:
        """A link is to be opened."""
        event.stop()
        self.open_url(event.url)

    def on_app_focus(self) -> None:
        """The person looks."""
        self.terminal.notifier.focus(True)

    def on_app_blur(self) -> None:
        """The person looks elsewhere."""
        self.terminal.notifier.focus(False)

    async def on_key(self, event: events.Key) -> None:
        """Somebody is here; what is typed where nothing takes it is meant for the conversation."""
        self.terminal.notifier.touched()
        if len(self.screen_stack) == 1 and self.focused is None and await self.view.composer.offer_key(event):
            event.stop()

    async def on_paste(self, event: events.Paste) -> None:
        """What is pasted where nothing takes it."""
        if len(self.screen_stack) == 1 and self.focused is None:
            await self.view.composer.paste(event.text)

    def action_redraw(self) -> None:
        """Draw everything anew, whatever wrote over it."""
        self.refresh(repaint=True, layout=True)
        if self._driver is not None:
            self._driver.write("\x1b[2J")
        self.screen.refresh(repaint=True, layout=True)

    def show_statusbar(self, form: Detail) -> None:
        """Show the status bar in one of its forms."""
        self.statusbar_shown = form != "off"
        self.query_one(StatusBar).detail = form

    def palette_entries(self) -> "Iterable[Entry]":
        """All that can be done here."""
        from hermes_platform_tui.entries import entries

        return entries(self)


def _user() -> str:
    with contextlib.suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return os.environ.get("USER") or "owner"  # a container may run under a number without a name
