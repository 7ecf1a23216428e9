"""How a tool call reads: its line, and below it the live end of its output, its result, a difference or a plan."""

import json
from collections.abc import Callable
from itertools import islice

from textual.content import Content

from hermes_core.patterns import pattern
from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.width import cells, clip, expand, wrap
from hermes_platform_tui.transcript import difference, plans
from hermes_platform_tui.transcript.entries import Action, State
from hermes_platform_tui.transcript.rows import ACCENT, ADDED, BAD, MUTED, OK, REMOVED, STRONG, TOOL, WARN, clipped
from hermes_platform_tui.transcript.wording import blob_line, detail_of, duration

__all__ = ["SPINNER", "Card"]

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LIVE_ROWS = 4
MOST_ROWS = 120  # of an unfolded card; the rest is for the viewer
_BAR = "  ┊ "
_MARKS: dict[State, tuple[str, str]] = {
    "pending": ("○", MUTED),
    "running": ("●", ACCENT),
    "ok": ("✓", OK),
    "failed": ("✗", BAD),
    "refused": ("⊘", WARN),
    "stopped": ("■", WARN),
}
_STEP = pattern(r"(\d{1,4}) ▸ (.*)")
_ITEMS = {"open": ("☐", ""), "now": ("▸", STRONG), "done": ("☑", MUTED), "dropped": ("☒", MUTED)}
_INKS = {"+": ADDED, "-": REMOVED, "@": MUTED, "#": MUTED, " ": ""}


class Card:
    """One call. What its result holds is found out once."""

    def __init__(self, entry: Action, result_lines: int, clock: Callable[[], float]) -> None:
        self._entry, self._lines, self._clock = entry, result_lines, clock
        self._known: tuple[object, State] | None = None
        self._detail = ""
        self._output: list[str] = []
        self._changes: list[difference.Row] = []
        self._behind: list[str] = []
        self._plan: tuple[list[plans.Item], str] | None = None
        self.folded = True
        self.current = False

    def rows(self, width: int) -> list[Content]:
        """All rows of the card."""
        self._look()
        body = self._body(width)
        return [self._head(width), *self._given(width), *body, *self._files(width)]

    def _look(self) -> None:
        if self._known and self._known[0] is self._entry.call and self._known[1] == self._entry.state:
            return  # live output comes twenty times a second, and changes nothing of this
        self._known = (self._entry.call, self._entry.state)
        self._detail = detail_of(self._entry.call)
        text = self._entry.output.shown() if self._entry.over else ""
        arguments = self._entry.arguments()
        self._plan, self._changes, self._behind = plans.parse(text, arguments), [], []
        if found := difference.parse(text):
            before, self._changes, self._behind = found
            self._output = before
        else:
            self._output = text.split("\n") if text.strip() else []
            self._changes = difference.of_arguments(arguments)
        while self._behind and not self._behind[-1].strip():
            self._behind.pop()

    def _head(self, width: int) -> Content:
        entry = self._entry
        mark, ink = _MARKS[entry.state]
        took = entry.seconds
        if entry.state == "running":
            took = self._clock() - entry.since
            mark = SPINNER[int(took * 10) % len(SPINNER)]
        time = duration(took) if took is not None else ""
        notes = [
            note for note, there in (("refused", entry.state == "refused"), ("from outside", entry.outside)) if there
        ]
        notes += ["stopped"] if entry.state == "stopped" else []
        end = "  ".join(part for part in (time, *notes) if part)
        name = clip(entry.name, max(4, width - 2))
        room = width - 2 - cells(name) - 2 - (cells(end) + 2 if end else 0)
        detail = clip(self._detail, room) if room > 3 else ""
        parts = [(f"{mark} ", ink), (name, TOOL)]
        if detail:
            parts.append((f"  {detail}", ""))
        if end and cells(name) + 4 + cells(end) <= width:
            parts.append((f"  {end}", MUTED))
        return Content.assemble(*parts)

    def _given(self, width: int) -> list[Content]:
        """The arguments, when the card is unfolded and its line does not say them all."""
        entry = self._entry
        if self.folded:
            return []
        shown = self._detail
        rows: list[Content] = []
        for key, value in islice(entry.arguments().items(), 40):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            if self._changes and isinstance(value, str) and "\n" in value:
                continue  # it is shown as a difference
            if text == shown and cells(shown) + cells(entry.name) + 12 < width:
                continue
            rows += self._wrapped(clean(f"{key}: {text[:20_000]}"), width, MUTED)
        if entry.call.invalid:
            rows += self._wrapped(clean(entry.call.invalid), width, BAD)
        return _bounded(rows, MOST_ROWS // 2, width, "")

    def _body(self, width: int) -> list[Content]:
        entry = self._entry
        if not entry.over:
            return self._changed(width) or self._live(width)
        if self._plan:
            return self._planned(width, *self._plan)
        rows: list[Content] = []
        steps = self._steps(entry.told.last(8_000), width) if not self.folded else []
        if self._changes and entry.state == "ok":
            return [
                *rows,
                *self._told(width, self._output, min(1, self._lines)),
                *self._changed(width),
                *self._told(width, self._behind, 0),
            ]
        if not entry.output and entry.told and not steps:
            return self._told(width, entry.told.shown().split("\n"), self._lines)
        return [*steps, *self._told(width, self._output, self._lines)]

    def _live(self, width: int) -> list[Content]:
        text = self._entry.told.last()
        if not text.strip():
            return []
        if steps := self._steps(text, width):
            return steps
        lines = text.split("\n")
        shown = lines[-(LIVE_ROWS if self.folded else LIVE_ROWS * 5) :]
        return [clipped(expand(line), width, MUTED, _BAR) for line in shown]

    def _steps(self, text: str, width: int) -> list[Content]:
        """What child agents do: of each its last step, or all of them."""
        found = [match for line in text.split("\n") if (match := _STEP.fullmatch(line))]
        if not found:
            return []
        if not self.folded:
            return [clipped(match[0], width, MUTED, _BAR) for match in found[-40:]]
        last: dict[str, str] = {}
        counts: dict[str, int] = {}
        for match in found:
            last[match[1]] = match[2]
            counts[match[1]] = counts.get(match[1], 0) + 1
        rows = []
        for number in sorted(last, key=int)[:12]:
            count = f"  ({counts[number]} steps)" if counts[number] > 1 else ""
            rows.append(clipped(f"{number} ▸ {last[number]}{count}", width, MUTED, _BAR))
        return rows

    def _planned(self, width: int, items: list[plans.Item], rest: str) -> list[Content]:
        rows = []
        for item in items:
            mark, ink = _ITEMS[item.status]
            for number, row in enumerate(wrap(item.text, max(4, width - 6))):
                rows.append(Content.assemble("  ", (f"{mark} " if not number else "  ", ink), (row, ink)))
        most = 4 * self._lines if self.folded else MOST_ROWS
        if not most:
            return []
        rows = _bounded(rows, most, width, self._hint)
        return rows + ([clipped(rest, width, MUTED, "  ")] if rest and not self.folded else [])

    def _changed(self, width: int) -> list[Content]:
        """The rows of a difference: number, plus or minus, text."""
        most = 4 * self._lines if self.folded else MOST_ROWS * 2
        if not self._changes or not most:
            return []
        kept = [row for row in self._changes if row.mark != "#" or not self.folded]
        if self.folded and kept and kept[0].mark == "@":
            kept = kept[1:]
        digits = max(2, *(len(str(row.number)) for row in kept)) if kept else 2
        rows = [self._change(row, width, digits) for row in kept[:most]]
        left = len(kept) - most
        if left > 0:
            rows.append(clipped(f"… {left:,} more line{'s' if left > 1 else ''}{self._hint}", width, MUTED, _BAR))
        return rows

    def _change(self, row: difference.Row, width: int, digits: int) -> Content:
        ink = _INKS[row.mark]
        if row.mark in "@#":
            return clipped(clean(row.text), width, ink, _BAR)
        text = clip(expand(clean(row.text)), max(1, width - digits - 5))
        number = str(row.number).rjust(digits) if row.number else " " * digits
        text = f"{row.mark} {text}"
        if row.mark != " ":
            text += " " * max(0, width - digits - 3 - cells(text))
        return Content.assemble(("  " + number + " ", MUTED), (text, ink))

    def _told(self, width: int, lines: list[str], most: int) -> list[Content]:
        """Lines of output, the first of them when the card is folded."""
        lines = [line.rstrip() for line in lines]
        while lines and not lines[0]:
            lines.pop(0)
        if not lines:
            return []
        ink = BAD if self._entry.state == "failed" else MUTED
        if self._entry.state in {"failed", "refused"}:
            most = max(most, 2)  # why it did not work is worth two lines in any case
        if self.folded:
            return self._some(lines, most, width, ink)
        head, tail = lines, list[str]()
        if len(lines) > MOST_ROWS:
            head, tail = lines[: MOST_ROWS * 2 // 3], lines[-MOST_ROWS // 3 :]
        rows = [row for line in head for row in self._wrapped(line, width, ink)]
        if tail:
            left = len(lines) - len(head) - len(tail)
            rows.append(clipped(f"… {left:,} more lines · o shows all", width, WARN, _BAR))
            rows += [row for line in tail for row in self._wrapped(line, width, ink)]
        return _bounded(rows, MOST_ROWS * 3, width, " · o shows all")

    def _some(self, lines: list[str], most: int, width: int, ink: str) -> list[Content]:
        """A few lines: of a command the last ones, which say how it ended; of all else the first."""
        left = len(lines) - most
        if left <= 0 or not most:
            return [clipped(expand(line), width, ink, _BAR) for line in lines[:most]]
        late = not {"command", "code"}.isdisjoint(self._entry.arguments())
        shown = lines[-most:] if late else lines[:most]
        rows = [clipped(expand(line), width, ink, _BAR) for line in shown]
        words = f"… {left:,} {'earlier' if late else 'more'} line{'s' if left > 1 else ''}{self._hint}"
        rows.insert(0 if late else most, clipped(words, width, MUTED, _BAR))
        return rows

    def _wrapped(self, text: str, width: int, ink: str) -> list[Content]:
        pieces = wrap(text[:8_000], max(4, width - len(_BAR)))
        return [Content.assemble((_BAR, MUTED), (piece, ink)) for piece in pieces]

    def _files(self, width: int) -> list[Content]:
        return [clipped(blob_line(blob), width, "", _BAR) for blob in self._entry.blobs]

    @property
    def _hint(self) -> str:
        return " · Enter unfolds" if self.current and self.folded else ""


def _bounded(rows: list[Content], most: int, width: int, hint: str) -> list[Content]:
    left = len(rows) - most
    if left <= 1:
        return rows
    return [*rows[:most], clipped(f"… {left:,} more rows{hint}", width, MUTED, _BAR)]
