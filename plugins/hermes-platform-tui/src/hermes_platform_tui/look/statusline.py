"""What the status bar says: the pieces of its row, and what is given up when there is little room."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from textual.content import Content

from hermes_core.patterns import pattern
from hermes_core.values import frozen
from hermes_platform_tui.look.figures import UNKNOWN_COST, money, percent, tokens
from hermes_platform_tui.look.line import Piece, clean, clip

__all__ = ["Facts", "Paint", "compact", "full", "level", "minimal", "piece"]

_MODEL = 26
_DATE = pattern(r"-(20\d{6}|20\d\d-\d\d-\d\d)\Z")
# What is given up first when the row is too narrow, down to what stays to the last.
_ORDER = (
    *("cwd", "verb", "provider", "title", "cache", "flow", "cwd-short", "date", "unknown-cost", "title-short", "ask"),
    *("wall", "branch", "branch-short", "work", "count", "smart", "bar", "queue", "policy", "time", "cost", "model"),
    *("queue-short", "model-short", "share", "no-wall", "model-least", "off", "sign"),
)
_RANKS = {name: len(_ORDER) - at for at, name in enumerate(_ORDER)}
_MARKS = {"good": "", "warning": "", "bad": "!", "critical": "!!"}
# The variable of a skin, and what stands for it in a theme that is not one of ours.
_COLOURS = {
    "text": ("status-text", "foreground"),
    "strong": ("status-strong", "primary"),
    "muted": ("status-muted", "foreground"),
    "good": ("status-good", "success"),
    "warning": ("status-warning", "warning"),
    "bad": ("status-bad", "warning"),
    "critical": ("status-critical", "error"),
    "ground": ("background", "background"),
}


@frozen(kw_only=True)
class Facts:
    """What the row tells. ``used`` of ``window`` tokens are in the context; a window of 0 is not known."""

    model: str = ""
    provider: str = ""
    used: int = 0
    window: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_hits: float | None = None
    """How many percent of the input came from the provider's cache; None when that is not known."""
    cost: float = 0.0
    priced: Literal["", "estimated", "actual"] = ""
    seconds: float = 0.0
    """How long the turn has taken when these facts were told. The row counts on by itself."""
    busy: bool = False
    queued: int = 0
    branch: str = ""
    mode: Literal["ask", "smart", "off"] = "ask"
    wall: str = ""
    """What bounds commands here, ``none`` where nothing does; empty while that is not known."""
    title: str = ""
    cwd: str = ""
    agents: int = 0
    processes: int = 0
    other: str = ""
    """What else is at work, such as a goal, in a few words."""


def level(share: float) -> Literal["good", "warning", "bad", "critical"]:
    """How near the end of the window is: from 50, 80 and 95 % on it gets worse."""
    if share < 0.5:
        return "good"
    if share < 0.8:
        return "warning"
    return "bad" if share < 0.95 else "critical"


class Paint:
    """Words in the colours of the theme that is shown."""

    def __init__(self, variables: Mapping[str, str], ascii_only: bool) -> None:
        self._variables = variables
        self.ascii = ascii_only

    def colour(self, name: str) -> str:
        """The colour for that part of the row."""
        ours, otherwise = _COLOURS[name]
        return self._variables.get(ours) or self._variables.get(otherwise, "ansi_default")

    def clip(self, text: str, cells: int) -> str:
        """Text from outside, cut to that many cells."""
        return clip(text, cells, "~" if self.ascii else "…")

    def say(self, text: str, name: str, *, bold: bool = False) -> Content:
        """Words in that colour."""
        return Content.styled(text, f"{'bold ' if bold else ''}{self.colour(name)}")

    def shout(self, text: str) -> Content:
        """Words that nobody may overlook, with colours or without."""
        return Content.styled(text, f"bold reverse {self.colour('critical')}")


def piece(*forms: tuple[str, Content], right: bool = False) -> Piece:
    """A piece of the row from its wordings by name, longest first."""
    return Piece(tuple((_RANKS[name], content) for name, content in forms), right)


def full(facts: Facts, paint: Paint) -> Iterator[Piece]:
    """All there is to tell."""
    yield from _mode_off(facts, paint)
    yield _model(facts, paint)
    yield _context(facts, paint, 10)
    yield from _queue(facts, paint)
    yield from _work(facts, paint)
    if facts.input_tokens or facts.output_tokens:
        up, down = ("in ", "out ") if paint.ascii else ("↑", "↓")
        flow = f"{up}{tokens(facts.input_tokens)} {down}{tokens(facts.output_tokens)}"
        yield piece(("flow", paint.say(flow, "muted")))
    if facts.cache_hits is not None:
        yield piece(("cache", paint.say(f"cache {percent(facts.cache_hits / 100)}", "muted")))
    yield from _cost(facts, paint, unknown=True)
    if facts.title:
        title = paint.say(paint.clip(facts.title, 32), "text")
        yield piece(("title", title), ("title-short", paint.say(paint.clip(facts.title, 18), "text")), right=True)
    if facts.cwd:
        place = _short(facts.cwd)
        yield piece(
            ("cwd", paint.say(paint.clip(place, 32), "muted")),
            ("cwd-short", paint.say(paint.clip(_last(place), 16), "muted")),
            right=True,
        )
    yield from _branch(facts, paint)
    if facts.wall not in ("", "none"):
        yield piece(("wall", paint.say(paint.clip(facts.wall, 16), "muted")), right=True)
    yield from _no_wall(facts, paint)
    if facts.mode == "ask":
        yield piece(("ask", paint.say("ask", "muted")), right=True)
    yield from _smart(facts, paint)


def compact(facts: Facts, paint: Paint) -> Iterator[Piece]:
    """What is looked at in the course of a turn."""
    yield from _mode_off(facts, paint)
    yield _model(facts, paint)
    yield _context(facts, paint, 5)
    yield from _queue(facts, paint)
    yield from _cost(facts, paint, unknown=False)
    yield from _branch(facts, paint)
    yield from _no_wall(facts, paint)
    yield from _smart(facts, paint)


def minimal(facts: Facts, paint: Paint) -> Iterator[Piece]:
    """Which model, how full, and whether anything is out of the ordinary."""
    yield from _mode_off(facts, paint)
    yield _model(facts, paint)
    yield _context(facts, paint, 0)
    yield from _queue(facts, paint, short=True)


def _mode_off(facts: Facts, paint: Paint) -> Iterator[Piece]:
    if facts.mode == "off":
        yield piece(("policy", paint.shout(" POLICY OFF ")), ("off", paint.shout(" OFF ")))


def _no_wall(facts: Facts, paint: Paint) -> Iterator[Piece]:
    if facts.wall == "none":
        yield piece(("no-wall", paint.say("no wall", "warning", bold=True)), right=True)


def _smart(facts: Facts, paint: Paint) -> Iterator[Piece]:
    if facts.mode == "smart":
        yield piece(("smart", paint.say("smart", "strong")), right=True)


def _model(facts: Facts, paint: Paint) -> Piece:
    name = paint.clip(facts.model, _MODEL)
    if not name:
        return piece(("model", paint.say("no model", "warning")))
    undated = _DATE.sub("", clean(facts.model))
    forms = [
        (rank, paint.say(paint.clip(undated, cells), "text", bold=True))
        for rank, cells in (("model", _MODEL), ("model-short", 16), ("model-least", 8))
    ]
    if undated != name:
        forms.insert(0, ("date", paint.say(name, "text", bold=True)))
    provider = paint.clip(facts.provider, 16)
    if provider and provider.casefold() not in name.casefold():
        forms.insert(0, ("provider", Content.assemble(forms[0][1], " ", paint.say(provider, "muted"))))
    return piece(*forms)


def _context(facts: Facts, paint: Paint, cells: int) -> Piece:
    used = tokens(facts.used)
    if facts.window <= 0:
        return piece(("count", paint.say(f"{used} tokens", "muted")), ("share", paint.say(used, "muted")))
    share = facts.used / facts.window
    how = level(share)
    told = paint.say(percent(share) + _MARKS[how], how, bold=how in {"bad", "critical"})
    forms = [("share", told)]
    if cells:
        forms.insert(0, ("bar", Content.assemble(_bar(share, cells, paint, how), " ", told)))
    if cells >= 10:
        count = paint.say(f"{used}/{tokens(facts.window)}", "muted")
        forms.insert(0, ("count", Content.assemble(count, " ", forms[0][1])))
    return piece(*forms)


def _bar(share: float, cells: int, paint: Paint, how: str) -> Content:
    halves = min(2 * cells, max(1 if share > 0 else 0, round(share * 2 * cells)))
    whole, half = divmod(halves, 2)
    if paint.ascii:
        return Content.assemble(
            paint.say("[" + "#" * (whole + half), how), paint.say("-" * (cells - whole - half) + "]", "muted")
        )
    return Content.assemble(
        paint.say("━" * whole + "╸" * half, how), paint.say("─" * (cells - whole - half), "muted")
    )  # fmt: skip


def _queue(facts: Facts, paint: Paint, short: bool = False) -> Iterator[Piece]:
    if facts.queued:
        forms = [("queue", paint.say(f"{facts.queued} queued", "warning"))]
        yield piece(*([] if short else forms), ("queue-short", paint.say(f"+{facts.queued}", "warning")))


def _work(facts: Facts, paint: Paint) -> Iterator[Piece]:
    if facts.agents:
        yield piece(("work", paint.say(f"{facts.agents} agent{'s' * (facts.agents != 1)}", "strong")))
    if facts.processes:
        yield piece(("work", paint.say(f"{facts.processes} process{'es' * (facts.processes != 1)}", "text")))
    if facts.other:
        yield piece(("work", paint.say(facts.other, "text")))


def _cost(facts: Facts, paint: Paint, *, unknown: bool) -> Iterator[Piece]:
    told = money(facts.cost, facts.priced)
    if told != UNKNOWN_COST:
        yield piece(("cost", paint.say(told, "text")))
    elif unknown and (facts.input_tokens or facts.output_tokens):
        yield piece(("unknown-cost", paint.say(told, "muted")))


def _branch(facts: Facts, paint: Paint) -> Iterator[Piece]:
    name = clean(facts.branch)
    if name:
        sign = "git:" if paint.ascii else "⎇ "
        yield piece(
            ("branch", paint.say(sign + paint.clip(name, 28), "text")),
            ("branch-short", paint.say(sign + paint.clip(name, 14), "text")),
            right=True,
        )


def _short(cwd: str) -> str:
    home, place = str(Path.home()), clean(cwd)
    return "~" + place.removeprefix(home) if place == home or place.startswith(home + "/") else place


def _last(place: str) -> str:
    return place.rstrip("/").rpartition("/")[2] or place
