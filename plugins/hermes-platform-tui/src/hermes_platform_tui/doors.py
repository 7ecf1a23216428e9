"""Everything that opens above a conversation, and the keys and commands that open it."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from textual import on, work

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Console
from hermes_platform_tui.config import Config
from hermes_platform_tui.look.wardrobe import Wardrobe
from hermes_platform_tui.terminal.notify import Notifier
from hermes_platform_tui.terminal.title import Title
from hermes_platform_tui.transcript import Transcript
from hermes_platform_tui.view import ChatView

if TYPE_CHECKING:
    from textual.app import App

    from hermes_platform_tui.terminal.restore import Restorer

    _App = App[int]
else:
    _App = object

__all__ = ["Doors"]

_ROOMY = 100  # columns from which a panel stands beside a conversation
_SCREENS = {  # a command that is typed alone -> the screen it opens here
    "help": "keys", "sessions": "sessions", "resume": "sessions", "model": "models", "usage": "usage", "cost": "usage",
    "insights": "insights", "config": "settings", "settings": "settings", "agents": "work", "work": "work",
    "setup": "setup", "skin": "skins", "theme": "skins", "quit": "leave", "exit": "leave",
}  # fmt: skip


class Doors(_App):
    """The part of the app that opens screens and does what they say."""

    ctx: PluginContext
    talks: Console
    view: ChatView
    settings_of_screen: Config
    restorer: "Restorer | None"

    if TYPE_CHECKING:

        async def open_tab(self, session: str = "") -> ChatView: ...

    def opens(self, text: str) -> bool:
        """Open the screen that a command is here; False when it is no such command, or says more than its name."""
        words = text.strip()
        action = _SCREENS.get(words[1:]) if words.startswith("/") else None
        if action is None:
            return False
        self.call_later(getattr(self, f"action_{action}"))
        return True

    def command(self, text: str) -> None:
        """Have a slash command run in the conversation that is looked at."""
        self.view.say(text)

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_keys(self) -> None:
        """Every command and key."""
        from hermes_platform_tui.keys import KEYS
        from hermes_platform_tui.screens.help import HelpScreen

        chosen = await self.push_screen_wait(HelpScreen(self.talks.commands, KEYS))
        if chosen:
            self.view.composer.set_text(f"{chosen} ")
            self.view.composer.focus_input()

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_sessions(self) -> None:
        """Earlier conversations."""
        from hermes_platform_tui.screens.sessions import SessionPicker

        picker = SessionPicker(self.ctx, current=self.view.session)
        chosen = await self.push_screen_wait(picker)
        if chosen is None:
            return
        if chosen == "":
            await self.open_tab()
        elif self.view.transcript.is_empty and not self.view.facts.busy:
            await self.go_on(chosen)
            found = self.view
        else:
            found = await self.open_tab(chosen)
        if picker.message:
            await found.transcript.jump_to(picker.message)

    async def go_on(self, session: str) -> None:
        """Open an earlier session in the conversation that is looked at."""
        self.view.wanted = session
        try:
            await self.view.start()
        except HermesError as error:
            self.view.transcript.fail(error.text, error.hint)

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_models(self) -> None:
        """Another model."""
        from hermes_platform_tui.screens.models import ModelPicker

        status = self.talks.status(self.view.chat)
        current = f"{status.get('provider', '')}:{status.get('model', '')}"
        choice = await self.push_screen_wait(ModelPicker(self.ctx, current))
        if choice is not None:
            self.command(f"/model {choice.model}" + (" --global" if choice.scope == "global" else ""))

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_settings(self) -> None:
        """Settings."""
        from hermes_platform_tui.screens.settings import SettingsScreen

        await self.push_screen_wait(SettingsScreen(self.ctx))

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_setup(self, name: str = "") -> None:
        """Set something up, by its name or as it is chosen."""
        from hermes_platform_tui.screens.setup import SetupDialog, SetupPicker

        try:
            named = await self.ctx.settings.steps(name) if name else ()
        except HermesError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        step = named[0] if named else await self.push_screen_wait(SetupPicker(self.ctx))
        if step is not None and await self.push_screen_wait(SetupDialog(self.ctx, step)):
            self.notify(f"{step.name} is written; it holds from the next start.", markup=False)

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_work(self) -> None:
        """What runs beside this conversation: in a panel where there is room, else on a screen of its own."""
        from hermes_platform_tui.screens.work import WorkPanel, WorkScreen

        panels = self.query(WorkPanel)
        if panels:
            await panels.remove()
            self.view.composer.focus_input()
        elif self.size.width >= _ROOMY:
            panel = WorkPanel(self.talks, self.view.chat)
            await self.query_one("#middle").mount(panel)
            panel.focus_jobs()
        else:
            await self.push_screen_wait(WorkScreen(self.talks, self.view.chat))

    def on_work_panel_left(self) -> None:
        """Back from the panel to the conversation; the panel stays."""
        self.view.composer.focus_input()

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_usage(self) -> None:
        """What this conversation used."""
        from hermes_platform_tui.screens.usage import UsageScreen

        facts = self.view.facts
        shown = UsageScreen(
            self.view.usage, context=facts.used, window=facts.window, model=facts.model, seconds=facts.seconds
        )
        await self.push_screen_wait(shown)

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_insights(self) -> None:
        """What was used over the days."""
        from hermes_platform_tui.screens.insights import InsightsScreen

        await self.push_screen_wait(InsightsScreen(self.ctx))

    @work(group="door", exclusive=True, exit_on_error=False)
    async def action_skins(self) -> None:
        """Other colours, seen while they are chosen."""
        from hermes_platform_tui.screens.skins import SkinPicker

        worn: Any = self
        chosen = await self.push_screen_wait(SkinPicker(worn.skin_rows(), worn.skin.name, worn.try_on))
        if isinstance(self, Wardrobe):
            self.wear(chosen or worn.skin.name)
        if chosen:
            await self.keep("platforms.tui.skin", chosen)

    async def keep(self, key: str, value: str) -> None:
        """Write a setting down; what is wrong with it is told."""
        try:
            await self.ctx.settings.set(key, value)
        except HermesError as error:
            self.notify(str(error), severity="error", markup=False)

    @on(Transcript.Copied)
    def _copied(self, event: Transcript.Copied) -> None:
        event.stop()
        self.put_on_clipboard(event.text)

    @on(Transcript.LinkOpened)
    def _link_opened(self, event: Transcript.LinkOpened) -> None:
        event.stop()
        self.open_url(event.url)

    # --- what tells the person, outside of the screen -----------------------------------------------------------------

    @work(group="copy", exit_on_error=False)
    async def put_on_clipboard(self, text: str) -> None:
        """Copy a text to where the person can paste it, and say how."""
        from hermes_platform_tui.terminal.clipboard import Clipboard

        copied = await Clipboard(self.write_to_terminal, os.environ).copy(text)
        severity: Literal["warning", "information"] = "warning" if copied.way == "none" else "information"
        self.notify(copied.note, timeout=4, severity=severity, markup=False)

    @cached_property
    def notifier(self) -> Notifier:
        """Who tells somebody that looks elsewhere."""
        return Notifier(self.write_to_terminal, os.environ, self.settings_of_screen.notify)

    @cached_property
    def window(self) -> Title:
        """The title of the terminal's window."""
        return Title(self.write_to_terminal, off=self.is_headless or self.is_web)

    def name_window(self, title: str) -> None:
        """Name the terminal's window after the conversation."""
        if self.restorer is not None and self.window.end not in self.restorer.last_words:
            self.restorer.last_words.append(self.window.end)
        self.window.show(f"Hermes – {title}" if title else "Hermes")

    def write_to_terminal(self, data: str) -> None:
        """What is no part of the picture: a title, a notice, a copy."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(data)

    def take_mouse(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal, which then selects text itself."""
        driver: Any = self._driver
        if driver is None or self.is_headless:
            raise UserError("There is no mouse here.")
        (driver._enable_mouse_support if on else driver._disable_mouse_support)()
        self.mouse_taken = on
