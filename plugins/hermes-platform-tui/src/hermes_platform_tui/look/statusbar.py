"""The row at the foot of the screen: what answers, how full its context is, what it costs, what is going on."""

import time
from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from hermes_platform_tui.look.branch import git_branch
from hermes_platform_tui.look.figures import span
from hermes_platform_tui.look.indicator import IDLE, Style, frames, verb
from hermes_platform_tui.look.line import fit
from hermes_platform_tui.look.skin import Spinner
from hermes_platform_tui.look.statusline import Facts, Paint, compact, full, level, minimal, piece

__all__ = ["Detail", "Facts", "StatusBar", "detail_for", "git_branch", "level"]

Detail = Literal["auto", "full", "compact", "minimal", "off"]

_TICK = 0.1
_FULL, _COMPACT = 76, 52


def detail_for(width: int) -> Literal["full", "compact", "minimal"]:
    """How much is told in so many columns."""
    if width >= _FULL:
        return "full"
    return "compact" if width >= _COMPACT else "minimal"


class StatusBar(Widget):
    """One row. Give it ``facts``; it ticks by itself while the agent is busy."""

    DEFAULT_CSS: ClassVar[str] = """
    StatusBar {
        height: 1;
        width: 1fr;
        padding: 0 1;
        background: $footer-background;
        color: $footer-foreground;
    }
    """

    facts: reactive[Facts] = reactive(Facts())
    detail: reactive[Detail] = reactive("auto")
    indicator: reactive[Style] = reactive("unicode")
    spinner: reactive[Spinner] = reactive(Spinner())

    def __init__(
        self,
        facts: Facts | None = None,
        *,
        detail: Detail = "auto",
        indicator: Style = "unicode",
        spinner: Spinner | None = None,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - as every widget calls it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._told = clock()
        self._ticks = 0
        self._timer: Timer | None = None
        self.set_reactive(StatusBar.facts, facts or Facts())
        self.set_reactive(StatusBar.detail, detail)
        self.set_reactive(StatusBar.indicator, indicator)
        self.set_reactive(StatusBar.spinner, spinner or Spinner())

    def on_mount(self) -> None:
        """Begin to tick when there is something to tick for."""
        self._timer = self.set_interval(_TICK, self.tick, pause=not self.facts.busy)
        self.display = self.detail != "off"

    def watch_facts(self, old: Facts, new: Facts) -> None:
        """Count from the seconds that the facts tell."""
        self._told = self._clock()
        if new.busy and not old.busy:
            self._ticks = 0
        if self._timer is not None and new.busy is not old.busy:
            (self._timer.resume if new.busy else self._timer.pause)()

    def watch_detail(self, detail: Detail) -> None:
        """Off takes the row away."""
        self.display = detail != "off"

    def tick(self) -> None:
        """Go on by one picture."""
        self._ticks += 1
        self.refresh()

    @property
    def seconds(self) -> float:
        """How long the turn has taken by now, or the last one took."""
        gone = self._clock() - self._told if self.facts.busy else 0.0
        return self.facts.seconds + max(0.0, gone)

    def render(self) -> Content:
        """The row as it is now."""
        width = self.content_size.width
        detail = self.detail if self.detail not in {"auto", "off"} else detail_for(self.outer_size.width)
        paint = Paint(self.app.theme_variables, self.indicator == "ascii")
        state = piece(*self._state(paint, detail))
        pieces = {"full": full, "compact": compact, "minimal": minimal}[detail](self.facts, paint)
        return fit([state, *pieces], width)

    def _state(self, paint: "Paint", detail: str) -> Iterator[tuple[str, Content]]:
        facts, seconds = self.facts, span(self.seconds)
        if not facts.busy:
            idle = paint.say(IDLE[self.indicator], "good")
            if facts.seconds and detail != "minimal":
                yield "time", Content.assemble(idle, " ", paint.say(seconds, "muted"))
            yield "sign", idle
            return
        pictures = frames(self.indicator, self.spinner)
        sign = paint.say(pictures[self._ticks % len(pictures)], "strong", bold=True)
        gone = paint.say(seconds, "text")
        if detail == "full":
            doing = paint.clip(verb(self._ticks, self.spinner), 16)
            yield "verb", Content.assemble(sign, " ", paint.say(doing, "strong"), " ", gone)
        yield "time", Content.assemble(sign, " ", gone)
        yield "sign", sign
