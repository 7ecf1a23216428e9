"""The screen: conversations in tabs, a status bar, and everything that opens above them."""

import asyncio
import contextlib
import gc
import getpass
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Console
from hermes_core.types import Envelope, Event, Message, SlashCommand
from hermes_platform_tui.asking import FIRST, Asking
from hermes_platform_tui.config import Config
from hermes_platform_tui.doors import Doors
from hermes_platform_tui.look.statusbar import Detail, StatusBar
from hermes_platform_tui.look.wardrobe import Wardrobe
from hermes_platform_tui.tabs import TabRow
from hermes_platform_tui.terminal.safe import SafeApp
from hermes_platform_tui.view import ChatView

if TYPE_CHECKING:
    from hermes_platform_tui.screens.palette import Entry

__all__ = ["HermesApp"]

_AGAIN = 2.0  # seconds in which a second Ctrl+C leaves
_LONG = 5.0  # seconds a turn takes before its end is worth a notice to somebody who looks elsewhere


def _palette() -> type[Provider]:
    from hermes_platform_tui.screens.palette import EverythingProvider

    return EverythingProvider


class HermesApp(Asking, Doors, Wardrobe, SafeApp[int]):
    """The full-screen terminal. ``drawn`` is set when the first frame is on the screen."""

    TITLE = "Hermes"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {_palette}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "keys", "Help", show=False),
        Binding("f2", "sessions", "Sessions", show=False),
        Binding("f3", "models", "Model", show=False),
        Binding("f4", "work", "Work", show=False),
        Binding("f5", "usage", "Usage", show=False),
        Binding("f9", "settings", "Settings", show=False),
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

    def __init__(self, config: Config, ctx: PluginContext, console: Console, send: Callable[[Envelope], None]) -> None:
        self.settings_of_screen, self.ctx, self.talks = config, ctx, console
        super().__init__()
        self.prepare_wardrobe(config, ctx.paths.home)
        self.drawn = asyncio.Event()
        self.caught_up = asyncio.Event()  # what was said before is shown
        self.hold_input()
        self.prepared = False
        self.mouse_taken = config.mouse
        self.statusbar_shown = config.statusbar != "off"
        self._send = send
        self.person = _user()
        self._opened = 0
        self.views_by_chat: dict[str, ChatView] = {}
        self._stopped_at = float("-inf")
        self.leaving = False
        first = self._make_view(FIRST)
        self.views_by_chat[FIRST] = first
        self.view = first  # the conversation that is looked at

    def compose(self) -> ComposeResult:
        """A row of tabs, the conversations, the status bar."""
        yield TabRow()
        with Horizontal(id="middle"), ContentSwitcher(id="views", initial=self.view.id):
            yield self.view
        config = self.settings_of_screen
        yield StatusBar(detail=config.statusbar, indicator=config.indicator, spinner=self.skin.spinner)

    def on_mount(self) -> None:
        """Show the first frame; whatever else is needed comes after it."""
        self.view.composer.focus_input()
        self.app_resume_signal.subscribe(self, lambda _: self.window.again())
        self.call_after_refresh(self._first_frame)

    async def _first_frame(self) -> None:
        self.drawn.set()
        self.prepare()
        await self.release_input()

    @work(exclusive=True, group="prepare", exit_on_error=False)
    async def prepare(self) -> None:
        """Find who answers, and what was said before."""
        try:
            await self._catch_up()
        finally:  # whatever broke, what goes on is shown
            self.caught_up.set()
        self._greet()
        self._show_facts()
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
            from hermes_platform_tui.greeting import greeting

            self.view.greet(greeting(__version__, status, self.skin, rows=self.size.height))
        for line in filter(None, status.get("notice", "").split("\n")):
            self.view.transcript.note(line)
        for problem in self.problems:
            self.view.transcript.note(problem)

    # --- between the kernel and the conversations -------------------------------------------------------------------

    def deliver(self, chat: str, what: Event | Message) -> None:
        """Show something in a chat; one that is not there any more shows nothing."""
        view = self.views_by_chat.get(chat or FIRST)
        if view is None or self.leaving:
            return
        if view is not self.view and not view.unseen:
            view.unseen = True
            self.call_later(self.show_tabs)
        view.post_message(ChatView.Arrived(what))

    @on(ChatView.Rested)
    def _rested(self, event: ChatView.Rested) -> None:
        if event.seconds >= _LONG:
            words = {"done": "is done", "failed": "failed", "interrupted": "was stopped"}[event.ended.reason]
            self.notifier.tell(f"Hermes {words}", event.ended.answer or event.view.facts.title)

    @on(ChatView.Changed)
    def _changed(self, event: ChatView.Changed) -> None:
        self.show_tabs()
        if event.view is self.view:
            self._show_facts()

    def _show_facts(self) -> None:
        if self.is_attached_to_screen:
            self.query_one(StatusBar).facts = self.view.facts
            self.name_window(self.view.facts.title)

    @property
    def is_attached_to_screen(self) -> bool:
        """Whether there is anything to draw on."""
        return bool(self._running and self.screen_stack and self.screen_stack[0].is_attached)

    @property
    def views(self) -> Sequence[ChatView]:
        """The conversations, in the order of their tabs."""
        return list(self.views_by_chat.values())

    def begin(self, command: SlashCommand) -> None:
        """Run a command that needs no words; begin to write one that does."""
        if command.usage and not command.usage.startswith("["):
            self.view.composer.set_text(f"/{command.name} ")
            self.view.composer.focus_input()
        else:
            self.view.say(f"/{command.name}")

    def action_find(self) -> None:
        """Search this conversation."""
        self.view.action_search()

    # --- tabs -------------------------------------------------------------------------------------------------------

    def _make_view(self, chat: str, session: str = "") -> ChatView:
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
        )

    async def open_tab(self, session: str = "") -> ChatView:
        """A conversation beside the others: a new one, or an earlier one, which is opened only once."""
        for view in self.views_by_chat.values():
            if session and view.session == session:
                await self.look_at(view)
                return view
        self._opened += 1
        view = self._make_view(f"tab-{self._opened}", session)
        self.views_by_chat[view.chat] = view
        await self.query_one(ContentSwitcher).mount(view)
        await self.look_at(view)
        try:
            await view.start()
        except HermesError as error:
            view.transcript.fail(error.text, error.hint)
        return view

    async def look_at(self, view: ChatView) -> None:
        """Show a conversation."""
        self.view, view.unseen = view, False
        self.query_one(ContentSwitcher).current = view.id
        for panel in self.query("WorkPanel"):
            panel.refresh_jobs(view.chat)  # type: ignore[attr-defined]
        view.composer.focus_input()
        self.show_tabs()
        self._show_facts()
        await self.put()

    def show_tabs(self) -> None:
        """Show the tabs as they are now."""
        if self.is_attached_to_screen:
            self.query_one(TabRow).show(list(self.views_by_chat.values()), self.view)

    @on(TabRow.Chosen)
    async def _tab_chosen(self, event: TabRow.Chosen) -> None:
        await self.look_at(event.view)

    async def action_new_tab(self) -> None:
        """A new conversation beside this one."""
        await self.open_tab()

    async def action_close_tab(self) -> None:
        """Close this one; what runs in it is stopped, and what was said stays."""
        if len(self.views_by_chat) == 1:
            self.notify("This is the last one. Ctrl+Q leaves.")
            return
        closing = self.view
        order = list(self.views_by_chat.values())
        at = order.index(closing)
        await closing.interrupt()
        for waiting in closing.waiting:
            waiting.answer.cancel()
        del self.views_by_chat[closing.chat]
        await self.look_at(order[at - 1] if at else order[1])
        await closing.remove()

    async def action_next_tab(self, step: int) -> None:
        """The conversation beside this one."""
        order = list(self.views_by_chat.values())
        await self.look_at(order[(order.index(self.view) + step) % len(order)])

    async def action_tab(self, number: int) -> None:
        """A conversation by its place."""
        order = list(self.views_by_chat.values())
        if number <= len(order):
            await self.look_at(order[number - 1])

    # --- stopping and leaving -----------------------------------------------------------------------------------------

    async def action_stop(self) -> None:
        """Ctrl+C: copy what is selected, else stop the turn, else clear what is typed; twice leaves."""
        if selected := self.screen.get_selected_text():
            self.put_on_clipboard(selected)
            self.screen.clear_selection()
            return
        now = asyncio.get_running_loop().time()
        if now - self._stopped_at <= _AGAIN:
            self.leave()
            return
        self._stopped_at = now
        if self.view.facts.busy and await self.view.interrupt():
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
        for view in self.views_by_chat.values():
            for waiting in view.waiting:
                waiting.answer.cancel()
            if view.facts.busy:
                task = asyncio.ensure_future(view.interrupt())
                self._last_tasks = [*getattr(self, "_last_tasks", ()), task]
        self.exit(0)

    def later(self, action: Callable[[], object]) -> None:
        """Do something in the screen's own time: commands run in the kernel's."""
        self.call_later(action)

    def on_app_focus(self) -> None:
        """The person looks."""
        self.notifier.focus(True)

    def on_app_blur(self) -> None:
        """The person looks elsewhere."""
        self.notifier.focus(False)

    async def on_key(self, event: events.Key) -> None:
        """Somebody is here; what is typed where nothing takes it is meant for the conversation."""
        self.notifier.touched()
        if len(self.screen_stack) == 1 and self.focused is None and await self.view.composer.offer_key(event):
            event.stop()

    async def on_paste(self, event: events.Paste) -> None:
        """What is pasted where nothing takes it."""
        if len(self.screen_stack) == 1 and self.focused is None:
            await self.view.composer.paste(event.text)

    def redraw(self) -> None:
        """Draw everything anew, whatever wrote over it."""
        self.refresh(repaint=True, layout=True)
        if self._driver is not None:
            self._driver.write("\x1b[2J")
        self.screen.refresh(repaint=True, layout=True)

    def action_redraw(self) -> None:
        """Draw everything anew."""
        self.redraw()

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
