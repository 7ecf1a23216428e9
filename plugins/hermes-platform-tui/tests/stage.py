"""A kernel with a screen on it that is drawn and shown to nobody, and somebody who presses its keys."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from hermes_core.hooks import hookimpl
from hermes_core.testing import Bench
from hermes_platform_tui.app import HermesApp
from hermes_platform_tui.config import Config
from hermes_platform_tui.platform import Tui
from hermes_platform_tui.transcript.entries import Action, Entry, Failure, Remark, Speech
from hermes_platform_tui.view import ChatView

__all__ = ["Stage", "stage"]

_PATIENCE = 15.0
_MAY = {
    "permissions": {
        "kernel": ["host.serve", "turns.run", "sessions.read", "sessions.write", "settings.write", "llm.call"]
    },
    "contributes": {"platforms": ["tui"]},
}


class Stage:
    """The screen and its person."""

    def __init__(self, platform: Tui, carrying: "asyncio.Task[None]") -> None:
        self.platform, self.carrying = platform, carrying
        self.app: HermesApp = platform.app
        self.pilot: Pilot[int] = Pilot(self.app)

    @property
    def view(self) -> ChatView:
        return self.app.view

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str, *keys: str) -> None:
        """Put text into the input, and press keys."""
        await self.do(lambda: self.view.composer.insert(text))
        await self.press(*keys)

    async def do(self, action: Callable[[], object]) -> None:
        """Do something in the screen's own time."""
        done = asyncio.Event()

        def acting() -> None:
            action()
            done.set()

        self.app.call_later(acting)
        await asyncio.wait_for(done.wait(), _PATIENCE)

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait for something to become true."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not condition():
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{what or 'it'} did not come; shown: {self.shown()}") from None

    async def answers(self, choice: str) -> None:
        """Answer the question that is on the screen, once it takes answers."""
        dialog: Any = self.app.screen
        async with asyncio.timeout(_PATIENCE):
            while self.app.screen is dialog:  # keys that come too early do not count, and make it wait again
                await asyncio.sleep(0.6)
                await self.press(str(dialog.question.choices.index(choice) + 1))

    async def rest(self) -> None:
        """Wait until no turn runs."""
        await self.until(lambda: not self.view.facts.busy, "the end of the turn")

    def shown(self, view: ChatView | None = None) -> list[str]:
        """What is in the conversation, an entry a text."""
        return [_text(entry) for entry in (view or self.view).transcript.entries]

    def says(self, words: str, view: ChatView | None = None) -> bool:
        return any(words in text for text in self.shown(view))


def _text(entry: Entry) -> str:
    match entry:
        case Speech():
            return f"{entry.who}: {entry.text}"
        case Action():
            return f"call: {entry.name} {entry.state}"
        case Failure():
            return f"failed: {entry.text} {entry.hint}"
        case Remark():
            return f"note: {entry.text}"
    return type(entry).__name__


@asynccontextmanager
async def stage(
    hermes: Bench,
    *,
    config: Config | None = None,
    before: Callable[[], Awaitable[str]] | None = None,
    size: tuple[int, int] = (100, 30),
    early: str = "",
) -> AsyncIterator[Stage]:
    """Open the screen over a kernel; it is left at the end. ``before`` names the session that it goes on in;
    ``early`` is typed before there is anything to see."""
    made: list[Tui] = []

    @hookimpl
    def register_platforms(ctx: Any) -> list[Tui]:
        made.append(Tui(config or Config(), ctx, headless=True, size=size))
        return made

    hermes.tmp_plugin(register_platforms, manifest=_MAY)
    session = await before() if before else ""
    hermes.runtime.loader.load_contributing("platforms")
    hermes.runtime.dispatch.contributions("register_platforms")
    carrying = asyncio.create_task(hermes.serve(made[0], session))
    try:
        async with asyncio.timeout(_PATIENCE):
            while not (made[0]._app and made[0]._app._running):
                await asyncio.sleep(0)
            for letter in early:
                made[0]._app.post_message(events.Key(letter, letter))
            while not made[0]._app.drawn.is_set():
                if carrying.done():
                    carrying.result()
                await asyncio.sleep(0.005)
        yield Stage(made[0], carrying)
    finally:
        if made[0]._app is not None:
            made[0]._app.leave()
        await asyncio.wait({carrying}, timeout=_PATIENCE)
        assert carrying.done(), "the screen was left, and the conversation goes on"


def home_of(hermes: Bench) -> Path:
    return hermes.runtime.home.root
