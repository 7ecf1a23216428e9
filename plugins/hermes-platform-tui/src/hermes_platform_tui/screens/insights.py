"""What was used over the last days, by model and task."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from hermes_core.errors import HermesError
from hermes_core.types import UsageRow
from hermes_core.values import define
from hermes_platform_tui.look import plots
from hermes_platform_tui.screens.dialog import Dialog, Hint, begin
from hermes_platform_tui.screens.rows import columns
from hermes_platform_tui.screens.shown import fault, money, one_line, percent, tokens
from hermes_platform_tui.screens.usage import Pages

if TYPE_CHECKING:
    from hermes_platform_tui.distant import Around

__all__ = ["InsightsScreen"]

_SPANS = (7, 30, 90)
_SHORT = 8


@define
class _Sum:
    turns: int = 0
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    known: float = 0.0
    estimated: float = 0.0
    unpriced: int = 0

    @classmethod
    def of(cls, rows: Iterable[UsageRow]) -> "_Sum":
        total = cls()
        for row in rows:
            total.turns += row.turns
            total.calls += row.usage.calls
            total.input += row.usage.input
            total.output += row.usage.output
            total.cached += row.usage.cache_read
            total.known += row.usage.cost
            total.estimated += row.estimated
            total.unpriced += row.unpriced
        return total

    @property
    def cost(self) -> str:
        """What is known of the cost; what is not is said."""
        if not self.known and not self.estimated:
            return "unknown" if self.unpriced else "free" if self.calls else money(0)
        return ("~" if self.estimated else "") + money(self.known) + ("+?" if self.unpriced else "")


class InsightsScreen(Dialog[None]):
    """Totals, plots over time, and a table. 1, 2 and 3 choose the days."""

    TITLE_TEXT = "Insights"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Esc", "close", "cancel"),
        Hint("1 2 3", "7, 30, 90 days"),
        Hint("↑↓", "read on"),
        Hint("F5", "again", "again"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"days({days})", show=False) for number, days in enumerate(_SPANS, 1)),
        Binding("left", "step(-1)", show=False, priority=True),
        Binding("right", "step(1)", show=False, priority=True),
        Binding("f5", "again", show=False),
        Binding("q", "cancel", show=False),
    ]

    def __init__(self, ctx: "Around", *, days: int = 30, today: Callable[[], date] = date.today) -> None:
        super().__init__()
        self._ctx, self._days, self._today = ctx, days, today
        self._rows: Sequence[UsageRow] | None = None
        self._wrong = ""

    def body(self) -> ComposeResult:
        """All of it, one below the other."""
        yield Pages(self._lines)

    def on_mount(self) -> None:
        """Ask."""
        self.action_again()

    def action_again(self) -> None:
        """Ask anew."""
        self.set_title(self.TITLE_TEXT, f"the last {self._days} days")
        begin(self, "usage", partial(self._ask, self._days))

    def action_days(self, days: int) -> None:
        """Look at other days."""
        self._days = days
        self.action_again()

    def action_step(self, step: int) -> None:
        """Look at more days, or fewer."""
        at = _SPANS.index(self._days) if self._days in _SPANS else 1
        self.action_days(_SPANS[max(0, min(len(_SPANS) - 1, at + step))])

    async def _ask(self, days: int) -> None:
        try:
            self._rows, self._wrong = await self._ctx.sessions.usage(self._ctx.owner, days=days), ""
        except HermesError as error:
            self._wrong = fault(error)
        self.notice(self._wrong, error=bool(self._wrong))
        self.query_one(Pages).again()

    def _lines(self, width: int) -> Sequence[Content]:
        if self._rows is None:
            return [Content(" " if self._wrong else "Adding up …")]
        if not self._rows:
            return [Content(f"Nothing was used in the last {self._days} days.")]
        table, drawn = self._table(width), self._plots(width)
        # A short table is seen at once; a long one would hide the plots.
        rest = (*table, *drawn) if len(table) <= _SHORT else (*drawn[1:], Content(""), *table)
        return [*self._totals(width), Content(""), *rest]

    def _totals(self, width: int) -> Sequence[Content]:
        total = _Sum.of(self._rows or ())
        told = [
            ("turns", str(total.turns)),
            ("calls", str(total.calls)),
            ("in", tokens(total.input)),
            ("out", tokens(total.output)),
            ("from cache", percent(total.cached, total.input) or "–"),
            ("cost", total.cost),
        ]
        lines, line = [], Content("")
        for name, value in told:
            piece = Content.assemble((value, "bold"), " ", (name, "$text-muted"))
            if line and line.cell_length + piece.cell_length + 3 > width:
                lines.append(line)
                line = Content("")
            line = Content.assemble(line, "   ", piece) if line else piece
        lines.append(line)
        if total.unpriced:
            lines.append(
                Content.styled(f"{total.unpriced} calls of unknown price are not in the cost.", "$text-warning")
            )
        return lines

    def _plots(self, width: int) -> Sequence[Content]:
        days = self._by_day()
        token = [plots.Point(day, float(total.input + total.output)) for day, total in days]
        spent = [plots.Point(day, total.known) for day, total in days]
        cached = [plots.Point(day, total.cached / total.input if total.input else None) for day, total in days]
        height = 6 if self.size.height >= 40 else 4
        drawn = [("Tokens", plots.columns(token, width, height))]
        if any(point.value for point in spent):
            drawn.append(("Cost", plots.columns(spent, width, height, form=money, colour="accent")))
        if any(point.value for point in cached):
            share = plots.columns(
                cached, width, height, form=lambda v: f"{100 * v:.0f}%", most=1, merge="mean", colour="success"
            )
            drawn.append(("From the cache", share))
        return [line for name, lines in drawn for line in (Content(""), Content.styled(name, "bold"), *lines)]

    def _by_day(self) -> Sequence[tuple[str, _Sum]]:
        by_day: dict[str, list[UsageRow]] = defaultdict(list)
        for row in self._rows or ():
            by_day[row.day].append(row)
        last = self._today()
        days = [last - timedelta(days=back) for back in range(self._days - 1, -1, -1)]
        return [(f"{day.day} {day:%b}", _Sum.of(by_day[day.isoformat()])) for day in days]

    def _table(self, width: int) -> Sequence[Content]:
        groups: dict[tuple[str, str, str], list[UsageRow]] = defaultdict(list)
        for row in self._rows or ():
            groups[row.provider, row.model, row.task].append(row)
        sums = {key: _Sum.of(rows) for key, rows in groups.items()}
        ranked = sorted(sums, key=lambda key: (-sums[key].known, -sums[key].input - sums[key].output))
        cells = ["model", "task", "cost", "in", "out", "cache", "turns"]
        lines = [_line(width, *(Content.styled(cell, "bold") for cell in cells))]
        for provider, model, task in ranked:
            total = sums[provider, model, task]
            numbers = (total.cost, tokens(total.input), tokens(total.output), percent(total.cached, total.input))
            name = Content(one_line(f"{provider}:{model}" if provider else model, 120))
            task_name = Content(one_line(task, 60) or "conversation")
            lines.append(_line(width, name, task_name, *map(Content, numbers), Content(str(total.turns))))
        return lines


def _line(width: int, *cells: Content) -> Content:
    sizes = (0, 14, -10, -7, -7, -6, -6)
    return columns(width, *zip(cells, sizes, strict=True))
