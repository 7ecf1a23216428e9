"""What runs beside a conversation: child agents, processes in the background."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from hermes_core.errors import HermesError
from hermes_core.kinds import Console
from hermes_core.types import Job
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.dialog import Dialog, Hint, Hints, begin
from hermes_platform_tui.screens.rows import Row, Rows, columns, heading
from hermes_platform_tui.screens.sheet import Sheet, Writing
from hermes_platform_tui.screens.shown import clean, cost, fault, one_line, span, tokens

__all__ = ["OutputScreen", "WorkPanel", "WorkScreen"]

_EVERY = 2.0
_KINDS = {"agent": "Child agents", "process": "Background processes", "other": "Other work"}
_STATES = {"running": "●", "done": "✓", "ended": "✓", "failed": "✗", "stopped": "■", "interrupted": "!"}
_HINTS = (Hint("Enter", "output"), Hint("x", "stop"), Hint("r", "again"))


class WorkPanel(Vertical):
    """The jobs of a chat as a tree. It asks again every two seconds while it is seen; ``refresh_jobs`` asks at once."""

    DEFAULT_CSS = """
    WorkPanel {
        width: 42;
        height: 1fr;
        padding: 0 1;
        background: $surface;
        border-left: solid $primary;
        & #workhead { height: auto; margin-bottom: 1; }
        & #worknotice { height: auto; max-height: 3; color: $text-error; }
        & Hints { margin: 0; }
        &:focus-within { border-left: heavy $primary; }
        & #jobs > .rows--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
        }
        & #jobs:focus > .rows--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,delete", "stop", show=False),
        Binding("r,f5", "again", show=False),
        Binding("escape,q", "leave", show=False),
    ]

    class Left(Message):
        """The person goes back to the conversation."""

    def __init__(self, talks: Console, chat: str, *, now: Callable[[], float] = time.time, ident: str = "work") -> None:
        super().__init__(id=ident)
        self._talks, self._chat, self._now = talks, chat, now
        self._jobs: Sequence[Job] = ()
        self._failed = False

    def compose(self) -> ComposeResult:
        """A line that sums it up, the tree, the keys."""
        yield Static(Content.styled("Work", "bold"), id="workhead", markup=False)
        yield Rows("jobs", empty="Looking …")
        yield Static("", id="worknotice", markup=False)
        yield Hints((*_HINTS, Hint("Esc", "back")))

    def on_mount(self) -> None:
        """Begin to look."""
        self.set_interval(_EVERY, self._tick)
        self.refresh_jobs()

    def focus_jobs(self) -> None:
        """Give it the focus."""
        self.query_one(Rows).focus()

    def _tick(self) -> None:
        if self.display and self.is_on_screen and self.app.screen is self.screen:
            self.refresh_jobs()

    def refresh_jobs(self, chat: str | None = None) -> None:
        """Ask now; of another chat when one is given."""
        self._chat = self._chat if chat is None else chat
        begin(self, "jobs", self._ask)

    async def _ask(self) -> None:
        rows, notice = self.query_one(Rows), self.query_one("#worknotice", Static)
        try:
            self._jobs = await self._talks.jobs(self._chat)
        except HermesError as error:
            self._failed = True
            notice.update(Content(f"! {fault(error)}"))
            rows.empty = "Nobody could be asked."
            rows.refresh()
            return
        if self._failed:
            self._failed = False
            notice.update("")
        rows.empty = "Nothing runs beside this conversation."
        rows.show(self._tree())
        running = sum(job.state == "running" for job in self._jobs)
        self.query_one("#workhead", Static).update(
            Content.assemble(("Work", "bold"), (f"  {running} running" if self._jobs else "", "$text-muted"))
        )

    def _tree(self) -> list[Row]:
        rows: list[Row] = []
        for kind, name in _KINDS.items():
            jobs = [job for job in self._jobs if job.kind == kind]
            if not jobs:
                continue
            rows += [heading(" ", f"gap {kind}")] if rows else []
            rows.append(heading(f"{name} ({len(jobs)})", f"kind {kind}"))
            for job in jobs:
                branch, rail = ("└─", "  ") if job is jobs[-1] else ("├─", "│ ")
                rows.append(Row(job.id, partial(self._draw, job, branch)))
                rows.append(Row(f"facts\n{job.id}", partial(_facts, job, rail), choosable=False))
                if job.last.strip():
                    rows.append(Row(f"last\n{job.id}", partial(_last, job, rail), choosable=False))
        return rows

    def _draw(self, job: Job, branch: str, width: int) -> Content:
        sign = _STATES.get(job.state, "·")
        name = Content.assemble((branch, "$text-muted"), f" {sign} ", (one_line(job.title, 200) or job.id, "bold"))
        passed = span(self._now() - job.since) if job.since > 0 and job.state == "running" else ""
        return columns(width, (name, 0), (passed, -8))

    def _current(self) -> Job | None:
        row = self.query_one(Rows).current
        return next((job for job in self._jobs if row and job.id == row.id), None)

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        if job := self._current():
            self.app.push_screen(OutputScreen(self._talks, self._chat, job))

    def action_again(self) -> None:
        """Ask now, and forget what was told."""
        self.query_one("#worknotice", Static).update("")
        self.refresh_jobs()

    def action_leave(self) -> None:
        """Back to the conversation."""
        self.post_message(self.Left())

    def action_stop(self) -> None:
        """Stop the current one, after a yes."""
        if job := self._current():
            name = one_line(job.title, 80) or job.id
            dialog = ConfirmDialog(f"Stop “{name}”?", ("stop", "cancel"), title="Stop")
            self.app.push_screen(dialog, lambda said: self._stop(job.id) if said == "stop" else None)

    def _stop(self, job: str) -> None:
        begin(self, "stop", partial(self._do_stop, job), alone=False)

    async def _do_stop(self, job: str) -> None:
        try:
            stopped = await self._talks.stop_job(self._chat, job)
        except HermesError as error:
            self.query_one("#worknotice", Static).update(Content(f"! {fault(error)}"))
            return
        await self._ask()
        if not stopped:
            self.query_one("#worknotice", Static).update(Content("It did not run any more."))


def _facts(job: Job, rail: str, width: int) -> Content:
    used = job.usage.input + job.usage.output
    facts = [one_line(job.state, 40), f"{tokens(used)} tokens" if used else "", cost(job.usage)]
    return Content.assemble(f"  {rail}   ", " · ".join(filter(None, facts))).stylize("$text-muted")


def _last(job: Job, rail: str, width: int) -> Content:
    last = clean(job.last[-2000:]).strip().split("\n")[-1]
    return Content.assemble((f"  {rail}   ", "$text-muted"), one_line(last, 300))


class WorkScreen(Dialog[None]):
    """The panel over everything, where there is no room beside the conversation."""

    TITLE_TEXT = "Work"
    AUTO_FOCUS = "#jobs"
    HINTS: ClassVar[Sequence[Hint]] = (*_HINTS[:2], Hint("Esc", "close", "cancel"), *_HINTS[2:])
    DEFAULT_CSS = """
    WorkScreen WorkPanel {
        width: 1fr;
        border: none;
        padding: 0;
        &:focus-within { border: none; }
        & Hints { display: none; }
        & #workhead { display: none; }
    }
    """

    def __init__(self, talks: Console, chat: str, *, now: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._panel = WorkPanel(talks, chat, now=now)

    def body(self) -> ComposeResult:
        """The panel."""
        yield self._panel

    def on_work_panel_left(self) -> None:
        """Close."""
        self.finish(None)


class OutputScreen(Dialog[None]):
    """The last that a job said. It asks again every two seconds while the end of it is seen."""

    AUTO_FOCUS = ""
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Esc", "close", "cancel"),
        Hint("↑↓ PgUp PgDn", "read"),
        Hint("r", "again", "again"),
        Hint("c", "copy", "copy"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("r,f5", "again", show=False),
        Binding("c", "copy", show=False),
        Binding("q", "cancel", show=False),
    ]

    def __init__(self, talks: Console, chat: str, job: Job) -> None:
        super().__init__()
        self._talks, self._chat, self._job = talks, chat, job
        self._text: str | None = None

    def body(self) -> ComposeResult:
        """The output."""
        yield Sheet(ident="output")

    def on_mount(self) -> None:
        """Ask."""
        self.set_title(one_line(self._job.title, 100) or self._job.id, one_line(self._job.state, 40))
        self.set_interval(_EVERY, self._tick)
        self.action_again()

    def _tick(self) -> None:
        if self.app.screen is self and not self.query_one(Sheet).below:
            self.action_again()

    def action_again(self) -> None:
        """Ask now."""
        begin(self, "output", self._ask)

    async def _ask(self) -> None:
        try:
            text = await self._talks.job_output(self._chat, self._job.id)
        except HermesError as error:
            self.notice(fault(error), error=True)
            return
        self.notice("")
        if text != self._text:
            self._text = text
            self.query_one(Sheet).show(
                [Writing(clean(text).rstrip("\n") or "It has said nothing yet.", bare=True)], end=True
            )

    def action_scroll(self, lines: int) -> None:
        """Read on, or back."""
        self.query_one(Sheet).scroll_relative(y=lines, animate=False)

    def action_copy(self) -> None:
        """Put it on the clipboard."""
        self.app.copy_to_clipboard(clean(self._text or ""))
        self.notice("Copied.")
