"""The contract of platforms, kept with a screen that is drawn and shown to nobody."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.context import PluginContext
from hermes_core.testing import FakeService, PlatformContract
from hermes_platform_tui.config import Config
from hermes_platform_tui.platform import Tui
from hermes_platform_tui.transcript.entries import Speech


class Person(FakeService):
    """Somebody in front of the screen."""

    platform: Tui

    async def say(self, text: str, *, sender: str = "someone") -> None:
        app = self.platform.app
        app.call_later(app.view.say, text)

    async def seen(self) -> Sequence[str]:
        view, handled = self.platform.app.view, asyncio.Event()
        view.call_later(handled.set)  # behind all that was delivered before
        await handled.wait()
        return [e.text for e in view.transcript.entries if isinstance(e, Speech) and e.who == "house"]


class TestScreen(PlatformContract):
    module = "hermes_platform_tui"

    @pytest.fixture
    def service(self) -> Person:
        return Person()

    @pytest.fixture
    def platform(
        self, contributed: Mapping[str, list[Any]], context: PluginContext, service: Person, tmp_path: Path
    ) -> Tui:
        service.platform = Tui(Config(), context, headless=True, size=(80, 24))
        return service.platform
