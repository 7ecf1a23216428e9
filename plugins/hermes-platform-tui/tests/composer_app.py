"""A composer in an app of its own, for the tests of the composer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from hermes_core.types import Blob, Choice
from hermes_platform_tui.composer import Composer

COMMANDS = {
    "/help": "What can be done here",
    "/history": "What was said in this conversation",
    "/hooks": "Hooks that plugins added",
    "/memory": "What is remembered",
    "/model": "Choose who answers",
    "/new": "Begin a conversation",
    "/permission": "What may be done without a question",
    "/quit": "Leave",
    "/retry": "Ask again",
    "/rollback": "Bring the folder back to how it was before a turn",
}
FILES = ("README.md", "src/", "src/main.py", "src/menu.py")
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 120_000


async def complete(text: str, cursor: int) -> Sequence[Choice]:
    """Commands at the start, files behind ``@``."""
    before = text[:cursor]
    if before.startswith("/model "):
        word = before.removeprefix("/model ")
        return [Choice(name, "", len(word)) for name in ("large", "small") if name.startswith(word)]
    if before.startswith("/"):
        return [Choice(name, said, len(before)) for name, said in COMMANDS.items() if name.startswith(before)]
    word = before.rpartition("@")[2]
    found = [name for name in FILES if name.startswith(word)]
    return [Choice(f"@{name}", "", len(word) + 1, final=not name.endswith("/")) for name in found]


class ComposerApp(App[None]):
    """Something that was said, and the composer below."""

    CSS = "VerticalScroll { height: 1fr; } Composer { dock: bottom; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        history: Path | None = None,
        answer: Callable[[str, int], Awaitable[Sequence[Choice]]] = complete,
        paste_lines: int = 5,
        paste_characters: int = 2000,
    ) -> None:
        super().__init__()
        self._history, self._answer = history, answer
        self.composer = self.made(paste_lines, paste_characters)
        self.sent: list[tuple[str, Sequence[Blob]]] = []
        self.changes: list[str] = []
        self.notices: list[str] = []
        self.left: list[str] = []
        self.suspended = 0

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(
                "\n".join(f"{n} Something that was said before, by a person or by a model." for n in range(12))
            )
        yield self.composer

    def on_mount(self) -> None:
        self.field.cursor_blink = False
        self.composer.focus_input()

    def made(self, paste_lines: int = 5, paste_characters: int = 2000) -> Composer:
        return Composer(
            complete=self._answer,
            history=self._history,
            paste_lines=paste_lines,
            paste_characters=paste_characters,
            placeholder="Ask anything. / for commands, @ for files",
        )

    @property
    def field(self) -> TextArea:
        return self.composer.query_one(TextArea)

    @property
    def shown(self) -> str:
        """What the terminal is sent, as one text."""
        widths = range(self.size.height)
        return "\n".join("".join(part.text for part in self.screen._compositor.render_strips()[row]) for row in widths)

    def on_composer_submitted(self, message: Composer.Submitted) -> None:
        self.sent.append((message.text, message.attachments))

    def on_composer_changed(self, message: Composer.Changed) -> None:
        self.changes.append(message.text)

    def on_key(self, event: events.Key) -> None:
        self.left.append(event.key)

    def notify(self, message: str, **_: object) -> None:  # type: ignore[override]
        self.notices.append(message)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """There is no terminal to lend."""
        self.suspended += 1
        yield


async def anew(pilot: Pilot[None], **paste: int) -> None:
    """Another composer instead of the one there is, and nothing of before: for the next row of a table."""
    app = pilot.app
    assert isinstance(app, ComposerApp)
    await app.composer.remove()
    for told in (app.sent, app.changes, app.notices, app.left):
        told.clear()
    app.composer = app.made(**paste)
    await app.mount(app.composer)
    app.on_mount()
    await until(pilot, lambda: app.focused)


async def type_in(pilot: Pilot[None], text: str) -> None:
    """Press the keys of a text."""
    await pilot.press(*["enter" if letter == "\n" else letter for letter in text])


async def paste(pilot: Pilot[None], text: str) -> None:
    """What a terminal says of a bracketed paste."""
    assert pilot.app.focused is not None
    pilot.app.post_message(events.Paste(text))
    if isinstance(pilot.app.screen.focused, TextArea):
        await settled(pilot)
    await pilot.pause()


async def settled(pilot: Pilot[None]) -> None:
    """Wait until every key that was posted has been dealt with: until one behind them has come through unused."""
    app = pilot.app
    assert isinstance(app, ComposerApp)
    app.left.clear()
    app.post_message(events.Key("f12", None))
    await until(pilot, lambda: "f12" in app.left)
    app.left.clear()


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Wait for something that a worker brings about."""
    async with asyncio.timeout(20):
        while not condition():
            await pilot.pause()


def menu_rows(app: ComposerApp) -> list[str]:
    """What the menu shows, a row each; the chosen one begins with a sign."""
    menu = app.composer.query_one("Menu")
    if not menu.display:
        return []
    return [menu.render_line(row).text.rstrip()[1:] for row in range(menu.size.height)]
