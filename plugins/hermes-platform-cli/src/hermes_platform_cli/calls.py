"""The tool feed: a line for each call, its live output while it runs, and the start of its result."""

from hermes_core.types import Called, Progress, Returned
from hermes_platform_cli.config import Config
from hermes_platform_cli.screen import DIM, RESET
from hermes_platform_cli.width import cells, clip, last_rows
from hermes_platform_cli.words import call_detail, duration, text_of
from hermes_platform_kit.clean import Cleaner, clean

__all__ = ["Feed"]

LIVE_ROWS = 4
_KEPT = 4000  # characters of live output of one call
_OK, _BAD = "\x1b[32m✓\x1b[0m", "\x1b[31m✗\x1b[0m"
_BAR = f"{DIM}┊{RESET}"


class _Running:
    def __init__(self, name: str, detail: str, since: float) -> None:
        self.name, self.detail, self.since = name, detail, since
        self.cleaner = Cleaner()
        self.output = ""


class Feed:
    """Calls that run, in the model's order, and how finished ones read."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._running: dict[str, _Running] = {}

    def called(self, event: Called, now: float) -> None:
        """A call begins."""
        self._running[event.call.id] = _Running(clean(event.call.name), call_detail(event.call), now)

    def progress(self, event: Progress) -> None:
        """A running call wrote something."""
        if running := self._running.get(event.call_id):
            running.output = (running.output + running.cleaner.feed(event.text[-2 * _KEPT :]))[-_KEPT:]

    def returned(self, event: Returned, columns: int) -> list[str]:
        """The rows that stay of a finished call."""
        self._running.pop(event.call.id, None)
        if self._config.tool_feed == "off":
            return []
        mark = _BAD if event.result.failed else _OK
        row = _line(clean(event.call.name), call_detail(event.call), event.seconds, columns)
        rows = [f"{_BAR} {mark} {row}"]
        wanted = self._config.result_lines if self._config.tool_feed == "full" else 0
        return rows + _summary(clean(text_of(event.result.parts)), wanted, columns)

    def clear(self) -> None:
        """The turn is over, whatever still ran."""
        self._running.clear()

    def live(self, now: float, spinner: str, columns: int) -> list[tuple[str, str]]:
        """The rows of running calls."""
        if self._config.tool_feed == "off":
            return []
        rows: list[tuple[str, str]] = []
        for running in self._running.values():
            rows.append((DIM, f"┊ {spinner} {_plain(running.name, running.detail, now - running.since, columns)}"))
            lines = running.output.rstrip("\n").split("\n") if running.output.strip() else []
            rows += [(DIM, f"┊     {row}") for row in last_rows(lines, max(8, columns - 6), LIVE_ROWS)]
        return rows


def _plain(name: str, detail: str, seconds: float, columns: int) -> str:
    took = duration(seconds)
    room = columns - 4 - max(9, cells(name)) - 2 - len(took) - 2
    name += " " * (9 - cells(name)) if detail else ""
    return "  ".join(part for part in (name, clip(detail, room) if room > 3 else "", took) if part)


def _line(name: str, detail: str, seconds: float, columns: int) -> str:
    body = _plain(name, detail, seconds, columns)
    took = duration(seconds)
    return f"{body.removesuffix(took)}{DIM}{took}{RESET}"


def _summary(text: str, wanted: int, columns: int) -> list[str]:
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    if not wanted or not any(lines):
        return []
    rows = [f"{_BAR}     {DIM}{clip(line, max(8, columns - 6))}{RESET}" for line in lines[:wanted]]
    left = len(lines) - wanted
    if left > 0:
        rows.append(f"{_BAR}     {DIM}… {left:,} more line{'s' if left > 1 else ''}{RESET}")
    return rows
