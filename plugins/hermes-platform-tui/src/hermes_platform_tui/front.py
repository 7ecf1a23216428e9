"""The full screen at a terminal of a host: it is drawn, and takes keys, before anything else of Hermes is loaded."""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hermes_platform_kit.front import Front, Ways
from hermes_platform_tui.config import Config
from hermes_platform_tui.distant import Distant
from hermes_platform_tui.late import LateConsole
from hermes_platform_tui.terminal.fit import size, unfit

if TYPE_CHECKING:
    from hermes_core.kinds import Console
    from hermes_core.types import Envelope
    from hermes_platform_tui.app import HermesApp
    from hermes_platform_tui.platform import Tui

    _Drawn: TypeAlias = tuple[
        HermesApp, asyncio.Task[BaseException | None], asyncio.Queue[Envelope | None], LateConsole
    ]

__all__ = ["Screen", "make"]


def make(ways: Ways) -> "Screen":
    """Make it. Raises KeyError and TypeError where a host says something else of it."""
    return Screen(Config(**ways.shown["config"]), Distant(ways))


class Screen(Front):
    """The screen, which the platform takes over once it is drawn. ``options`` are for tests."""

    def __init__(self, config: Config, around: Distant, **options: Any) -> None:
        self._config, self._around, self._options = config, around, options
        self._drawn: _Drawn | None = None

    def unfit(self) -> str:
        return unfit(sys.stdin, sys.stdout, os.environ, size())

    async def draw(self, facts: Mapping[str, str]) -> None:
        from hermes_platform_tui.app import HermesApp
        from hermes_platform_tui.running import run

        console = LateConsole(facts)
        incoming: asyncio.Queue[Envelope | None] = asyncio.Queue()
        app = HermesApp(self._config, self._around, cast("Console", console), incoming.put_nowait)
        running = asyncio.create_task(run(app, self._config, incoming, **self._options), name="tui")
        self._drawn = app, running, incoming, console
        drawn = asyncio.ensure_future(app.drawn.wait())
        await asyncio.wait({drawn, running}, return_when=asyncio.FIRST_COMPLETED)
        drawn.cancel()

    def platform(self) -> "Tui":
        from hermes_platform_tui.platform import Tui

        made = Tui(self._config, self._around)
        if self._drawn:
            app, running, incoming, console = self._drawn
            made.take_over(app, running, incoming, console.become)
        return made
