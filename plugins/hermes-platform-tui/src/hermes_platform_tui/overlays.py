"""Everything that opens above a conversation, and the commands that open it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_core.errors import HermesError
from hermes_platform_tui.distant import Distant

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_platform_tui.app import HermesApp

__all__ = ["Overlays"]

log = logging.getLogger(f"hermes.{__name__}")
_ROOMY = 100  # columns from which a panel stands beside a conversation
_SCREENS = {  # a command that is typed alone -> the screen it opens here
    "help": "keys", "sessions": "sessions", "resume": "sessions", "model": "models", "usage": "usage", "cost": "usage",
    "insights": "insights", "config": "settings", "settings": "settings", "agents": "work", "work": "work",
    "setup": "setup", "screens": "screens", "skin": "skins", "theme": "skins", "quit": "leave", "exit": "leave",
}  # fmt: skip


class Overlays:
    """Opens screens above what an app shows, and does what they say."""

    def __init__(self, app: "HermesApp") -> None:
        self._app = app
        self._ways: Mapping[str, Callable[..., Coroutine[Any, Any, None]]] = {
            "keys": self._keys, "sessions": self._sessions, "models": self._models, "settings": self._settings,
            "setup": self._setup, "work": self._work, "usage": self._usage, "insights": self._insights,
            "skins": self._skins, "screens": self._screens,
        }  # fmt: skip

    def open(self, name: str, *given: str) -> None:
        """Open a screen by its name. Only ``setup`` takes more: what is to be set up."""
        self._begin(partial(self._ways[name], *given))

    def _begin(self, way: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._app.run_worker(self._told(way), group="overlay", exclusive=True, exit_on_error=False)

    async def _told(self, way: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Open a screen; why it cannot be opened is told."""
        try:
            await way()
        except HermesError as error:
            self._app.notify(str(error), severity="error", markup=False)

    def opens(self, text: str, otherwise: Callable[[], None]) -> bool:
        """Open the screen that a command is here; False when it is no such command, or says more than its name.

        Where that is known only later, and it is none, ``otherwise`` is called then.
        """
        words = text.strip()
        name = _SCREENS.get(words[1:]) if words.startswith("/") else None
        if name is None:
            return words.startswith("/") and self._opens_plugin(words[1:].split(), otherwise)
        if name == "leave":
            self._app.call_later(self._app.leave)
        else:
            self._app.call_later(self.open, name)
        return True

    def _opens_plugin(self, words: list[str], otherwise: Callable[[], None]) -> bool:
        """Open the screen ``/SERVICE SCREEN`` of a plugin. Others may say as much and mean a command."""
        if len(words) != 2 or not all(word.isidentifier() for word in words):
            return False
        if isinstance(distant := self._app.ctx, Distant):
            if words[0] in distant.services:
                self._begin(partial(self._opens_later, distant, words[0], words[1], otherwise))
            return words[0] in distant.services
        return self._push_plugin(distant, *words)

    async def _opens_later(self, distant: Distant, service: str, screen: str, otherwise: Callable[[], None]) -> None:
        """Ask the host which screens a plugin has, and open a kernel only for one that is there."""
        try:
            there = screen in await distant.screens_of(service)
        except HermesError:  # the command of that name says what is wrong
            there = False
        except asyncio.CancelledError:  # another screen was wanted meanwhile; what was typed is not lost for it
            if self._app.is_running:
                otherwise()
            raise
        if not there:
            otherwise()
        elif not self._push_plugin(await self._app.whole(), service, screen):
            self._app.notify(f"{service} {screen} cannot be opened here.", severity="error", markup=False)

    def _push_plugin(self, ctx: "PluginContext", service: str, screen: str) -> bool:
        """Open a screen of a plugin; False where there is none of that name."""
        from hermes_tool_kit.screens import screens_of

        try:
            there = screens_of(ctx, service)
        except Exception:  # a plugin's; the command of that name says what is wrong
            log.exception("the screens of %s could not be found", service)
            return False
        found = next((one for one in there if one.name == screen), None)
        if found is not None:
            from hermes_platform_tui.screens.plugin import PluginScreen

            self._app.call_later(self._app.push_screen, PluginScreen(found))
        return found is not None

    async def _screens(self) -> None:
        """The screens that plugins bring."""
        from hermes_platform_tui.screens.plugin import PluginScreen, ScreenPicker
        from hermes_tool_kit.screens import screens

        chosen = await self._app.push_screen_wait(ScreenPicker(screens(await self._app.whole())))
        if chosen is not None:
            await self._app.push_screen_wait(PluginScreen(chosen))

    async def _keys(self) -> None:
        """Every command and key."""
        from hermes_platform_tui.keys import KEYS
        from hermes_platform_tui.screens.help import HelpScreen

        chosen = await self._app.push_screen_wait(HelpScreen(self._app.talks.commands, KEYS))
        if chosen:
            self._app.view.composer.set_text(f"{chosen} ")
            self._app.view.composer.focus_input()

    async def _sessions(self) -> None:
        """Earlier conversations."""
        from hermes_platform_tui.screens.sessions import SessionPicker

        picker = SessionPicker(self._app.ctx, current=self._app.view.session)
        chosen = await self._app.push_screen_wait(picker)
        if chosen is None:
            return
        if chosen == "":
            await self._app.tabs.open()
        elif self._app.view.transcript.is_empty and not self._app.view.facts.busy:
            await self._go_on(chosen)
            found = self._app.view
        else:
            found = await self._app.tabs.open(chosen)
        if picker.message:
            await found.transcript.jump_to(picker.message)

    async def _go_on(self, session: str) -> None:
        """Open an earlier session in the conversation that is looked at."""
        self._app.view.wanted = session
        try:
            await self._app.view.start()
        except HermesError as error:
            self._app.view.transcript.fail(error.text, error.hint)

    async def _models(self) -> None:
        """Another model."""
        from hermes_platform_tui.screens.models import ModelPicker

        status = self._app.talks.status(self._app.view.chat)
        current = f"{status.get('provider', '')}:{status.get('model', '')}"
        choice = await self._app.push_screen_wait(ModelPicker(await self._app.whole(), current))
        if choice is not None:
            self._app.view.say(f"/model {choice.model}" + (" --global" if choice.scope == "global" else ""))

    async def _settings(self) -> None:
        """Settings."""
        from hermes_platform_tui.screens.settings import SettingsScreen

        await self._app.push_screen_wait(SettingsScreen(await self._app.whole()))

    async def _setup(self, name: str = "") -> None:
        """Set something up, by its name or as it is chosen."""
        from hermes_platform_tui.screens.setup import SetupDialog, SetupPicker

        ctx = await self._app.whole()
        chosen = name or await self._app.push_screen_wait(SetupPicker(ctx))
        if not chosen:
            return
        try:
            step = await ctx.settings.step(chosen)
        except HermesError as error:
            self._app.notify(str(error), severity="error", markup=False)
            return
        if await self._app.push_screen_wait(SetupDialog(ctx, step)):
            self._app.notify(f"{step.name} is written; it holds from the next start.", markup=False)

    async def _work(self) -> None:
        """What runs beside this conversation: in a panel where there is room, else on a screen of its own."""
        from hermes_platform_tui.screens.work import WorkPanel, WorkScreen

        panels = self._app.query(WorkPanel)
        if panels:
            await panels.remove()
            self._app.view.composer.focus_input()
        elif self._app.size.width >= _ROOMY:
            panel = WorkPanel(self._app.talks, self._app.view.chat)
            await self._app.query_one("#middle").mount(panel)
            panel.focus_jobs()
        else:
            await self._app.push_screen_wait(WorkScreen(self._app.talks, self._app.view.chat))

    async def _usage(self) -> None:
        """What this conversation used."""
        from hermes_platform_tui.screens.usage import UsageScreen

        facts = self._app.view.facts
        shown = UsageScreen(
            self._app.view.usage, context=facts.used, window=facts.window, model=facts.model, seconds=facts.seconds
        )
        await self._app.push_screen_wait(shown)

    async def _insights(self) -> None:
        """What was used over the days."""
        from hermes_platform_tui.screens.insights import InsightsScreen

        await self._app.push_screen_wait(InsightsScreen(self._app.ctx))

    async def _skins(self) -> None:
        """Other colours, seen while they are chosen."""
        from hermes_platform_tui.screens.skins import SkinPicker

        wardrobe = self._app.wardrobe
        picker = SkinPicker(wardrobe.rows(), wardrobe.skin.name, wardrobe.try_on)
        chosen = await self._app.push_screen_wait(picker)
        wardrobe.wear(chosen or wardrobe.skin.name)
        if chosen:
            await self._keep("platforms.tui.skin", chosen)

    async def _keep(self, key: str, value: str) -> None:
        """Write a setting down; what is wrong with it is told."""
        try:
            await (await self._app.whole()).settings.set(key, value)
        except HermesError as error:
            self._app.notify(str(error), severity="error", markup=False)
