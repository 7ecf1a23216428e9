"""A running turn on a terminal."""

import asyncio
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from hermes_core.types import (
    Asked,
    Called,
    Ended,
    Event,
    Failed,
    Message,
    Noticed,
    Progress,
    Returned,
    Said,
    Started,
    Thinking,
)
from hermes_platform_cli.blocks import Block, Blocks, Lines
from hermes_platform_cli.calls import Feed
from hermes_platform_cli.config import Config
from hermes_platform_cli.screen import DIM, RESET, Screen
from hermes_platform_cli.width import clip_start, last_rows, wrap
from hermes_platform_cli.words import duration, shown_text, usage_line
from hermes_platform_kit.clean import Cleaner, clean

if TYPE_CHECKING:
    from hermes_platform_cli.markdown import Renderer

__all__ = ["TurnView"]

FRAME = 0.05  # seconds between paints at most
TICK = 0.12  # seconds between steps of the spinner
TAIL_ROWS = 12
THINKING_ROWS = 3
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_RED = "\x1b[31m"


class TurnView:
    """Shows the events of turns: finished blocks stay, what still changes lives in a few rows below them."""

    def __init__(self, screen: Screen, config: Config, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._config = config
        self._clock = clock
        self._feed = Feed(config)
        self._blocks: Blocks | Lines = Blocks() if config.markdown else Lines()
        self._cleaner = Cleaner()
        self._renderer: Renderer | None = None
        self._warming: threading.Thread | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._painted = 0.0
        self._section = "start"
        self._thought: list[str] = []
        self._thinking_since = self._since = 0.0
        self._spoke = self.running = self.stopping = self._paused = self._hoping = False
        self.draft = ""  # what is typed while a turn runs
        self._notes: list[str] = []  # what is said meanwhile, and shown for good where no text is cut by it
        self.answered: set[str] = set()  # questions whose answer is on the screen already

    def show(self, event: Event) -> None:
        """Take in one event; it is seen with the next paint."""
        if not isinstance(event, Thinking):
            self._end_thinking()
        match event:
            case Started():
                self._start()
            case Thinking():
                self._think(event.text)
            case Said():
                self._say(self._cleaner.feed(event.text))
            case Called():
                self._end_text()
                self._spoke = False
                self._feed.called(event, self._clock())
            case Progress():
                self._feed.progress(event)
            case Returned():
                self._end_text()
                self._rows("feed", self._feed.returned(event, self._screen.size.columns))
            case Asked():
                self._asked(event)
            case Noticed():
                self._end_text()
                self._rows("note", [f"{DIM}{clean(event.text)}{RESET}"])
            case Failed():
                self._end_text()
                self._rows("failed", _failure(event))
            case Ended():
                self._end(event)
                return
        self._touch()

    def note(self, text: str) -> None:
        """A row that stays, set below the text that is being said."""
        self._notes.append(clean(text))
        if not self._speaking:
            self._show_notes()
        self._touch()

    def _show_notes(self) -> None:
        notes, self._notes = self._notes, []
        self._rows("note", [f"{DIM}{line}{RESET}" for text in notes for line in text.split("\n")])

    @property
    def _speaking(self) -> bool:
        """Whether a text has begun that something else would cut in two."""
        return self.running and not self._hoping and (self._section == "text" or any(self._blocks.tail(1)))

    def message(self, message: Message) -> None:
        """Something the kernel says outside of an answer."""
        if self.running and not self._hoping:
            self.note(shown_text(message))
            return
        self._end_text()
        if self._hoping:
            self.running = self._hoping = False  # this is all there is to come
        text = shown_text(message)
        if text:
            self._rows("message", text.split("\n"))
            self._screen.commit([""])
            self._section = "start"
        self._touch()

    def begin(self) -> None:
        """The person has sent something: show that it is being worked on."""
        self._section = ""
        self.running = self._hoping = True
        self.stopping = False
        self._since = self._clock()
        self._warm_up()
        self._touch()

    def rest(self) -> None:
        """Nothing runs, as far as one can see."""
        self.running = False
        self._untime()
        self.paint()

    def begin_again(self) -> None:
        """An empty row is there already."""
        self._section = "start"

    def rows(self, rows: list[str]) -> None:
        """Rows of our own, at once."""
        self._screen.commit(rows)
        self.paint()

    def pause(self) -> None:
        """Take the live rows away; somebody is asked something."""
        self._end_thinking()
        self._end_text()
        self._paused = True
        self.paint()

    def resume(self) -> None:
        """Show them again."""
        self._paused = False
        self._touch()

    def paint(self) -> None:
        """Draw what there is now."""
        self._painted = self._clock()
        live = self._live() if self.running and not self._paused else []
        self._screen.paint(live)

    def stop(self) -> None:
        """Let go of timer and thread; what was said stays on the screen."""
        self._end_text()
        self.rest()
        if self._warming is not None:
            self._warming.join()
            self._warming = None

    def _start(self) -> None:
        if not self.running:
            self.begin()
        self._spoke = self._hoping = False

    def _warm_up(self) -> None:
        if self._config.markdown and self._renderer is None and self._warming is None:
            # The model thinks now; rich costs more than everything else together.
            self._warming = threading.Thread(
                target=import_module, args=("hermes_platform_cli.markdown",), name="hermes-cli-warm", daemon=True
            )
            self._warming.start()

    def _end(self, event: Ended) -> None:
        if not self.running:
            return
        if event.answer and not self._spoke and event.reason == "done":
            self._say(clean(event.answer))
        self._end_text()
        if event.reason == "interrupted":
            self._rows("note", [f"{DIM}Stopped.{RESET}"])
        if event.note:
            self._rows("note", [f"{DIM}{clean(event.note)}{RESET}"])
        if self._config.usage and event.reason != "failed":
            self._rows("note", [f"{DIM}{usage_line(event.usage, self._clock() - self._since)}{RESET}"])
        self._screen.commit([""])
        self._section = "start"
        self._feed.clear()
        self.rest()

    def _say(self, text: str) -> None:
        self._spoke = self._spoke or bool(text)
        self._blocks_done(self._blocks.feed(text))

    def _end_text(self) -> None:
        self._blocks_done(self._blocks.feed(self._cleaner.finish()))
        self._blocks_done(self._blocks.finish())
        if self._notes:
            self._show_notes()

    def _blocks_done(self, blocks: list[Block]) -> None:
        for block in blocks:
            rows = self._render(block)
            if block.gap and self._section == "text":
                self._screen.commit([""])
            self._rows("text", rows)

    def _render(self, block: Block) -> list[str]:
        if not self._config.markdown:
            return [block.text]
        if self._renderer is None:
            from hermes_platform_cli.markdown import Renderer

            self._renderer = Renderer()
        return self._renderer.rows(block, self._screen.size.columns)

    def _rows(self, section: str, rows: list[str]) -> None:
        """Rows to stay, set off by an empty one from what is of another sort."""
        if not rows:
            return
        if self._section not in (section, "start"):
            self._screen.commit([""])
        self._section = section
        self._screen.commit(rows)

    def _think(self, text: str) -> None:
        if self._config.reasoning == "off":
            return
        if not self._thought:
            self._end_text()
            self._thinking_since = self._clock()
        self._thought.append(text)

    def _end_thinking(self) -> None:
        if not self._thought:
            return
        text = clean("".join(self._thought)).strip()
        self._thought = []
        if self._config.reasoning == "full" and text:
            width = min(self._screen.size.columns - 2, 100)
            rows = [row for line in text.split("\n") for row in wrap(line, width)]
            self._rows("feed", [f"{DIM}┊ {row}{RESET}" for row in rows])
        elif text:
            self._rows("feed", [f"{DIM}┊ thought    {duration(self._clock() - self._thinking_since)}{RESET}"])

    def _asked(self, event: Asked) -> None:
        if event.question.id in self.answered:
            self.answered.discard(event.question.id)
            return
        self._end_text()
        said = event.verdict.choice or event.verdict.outcome
        reason = f" ({clean(event.verdict.reason)})" if event.verdict.reason else ""
        subject = clean(event.question.subject).split("\n")[0]
        self._rows("feed", [f"{DIM}┊ asked: {subject} → {clean(said)}{reason}{RESET}"])

    def _live(self) -> list[tuple[str, str]]:
        now = self._clock()
        columns, lines = self._screen.size
        spinner = _SPINNER[int((now - self._since) / TICK) % len(_SPINNER)]
        room = max(1, min(TAIL_ROWS, lines - 6))
        rows: list[tuple[str, str]] = []
        tail = self._blocks.tail(room * columns * 2)
        if any(tail):
            rows += [("", row) for row in last_rows(tail, columns, room)]
        if self._thought:
            # Joined anew only as far back as can be seen.
            recent = clean("".join(self._thought[-200:]))[-THINKING_ROWS * columns :]
            rows += [(DIM, f"┊ {row}") for row in last_rows(recent.strip().split("\n"), columns - 2, THINKING_ROWS)]
        rows += self._feed.live(now, spinner, columns)
        if rows and self._section not in ("start", "feed" if not any(tail) else "new"):
            rows.insert(0, ("", ""))
        hint = "stopping…" if self.stopping else f"{duration(now - self._since)} · Ctrl+C stops"
        notes = [(DIM, line) for text in self._notes for line in text.split("\n")]
        draft = [("", clip_start(self.draft, columns - 1) + "▏")] if self.draft else []
        return [*rows, ("", ""), *notes, (DIM, f"{spinner} {hint}"), *draft]

    def _touch(self) -> None:
        since = self._clock() - self._painted
        if since >= FRAME:
            self.paint()
        self._retime(TICK if since >= FRAME else FRAME - since)

    def _retime(self, delay: float) -> None:
        if self._timer is None and not self._paused:
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.paint()
        if self.running:
            self._retime(TICK)

    def _untime(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _failure(event: Failed) -> list[str]:
    first, *rest = clean(event.text).strip().split("\n")
    rows = [f"{_RED}✗{RESET} {first}", *(f"  {line}" for line in rest)]
    return rows + [f"  {DIM}{line}{RESET}" for line in clean(event.hint).strip().split("\n") if line]
