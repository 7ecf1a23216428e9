"""Plots: that they are as wide as asked, tell what they are given, and look like something."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static

from hermes_platform_tui.look.builtin import built_in
from hermes_platform_tui.look.figures import money, percent
from hermes_platform_tui.look.plots import Bar, Part, Point, bars, columns, sparkline, stack

DAYS = [Point(f"{day} Nov", None if day == 14 else (day * 7919 % 13) * 71_000) for day in range(1, 31)]
COSTS = [
    Point(name, cost)
    for name, cost in zip(
        ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], (1, 2.9, 0.4, 0, 1.7, 0.01, 2), strict=True
    )
]
HITS = [Point(f"d{day}", 0.5 + (day * 31 % 50) / 100) for day in range(400)]
MODELS = [
    Bar("claude-sonnet-4-5", 1_200_000, "71%"),
    Bar("gpt-5-mini", 480_000, "29%"),
    Bar("模型", 3),
    Bar("x\x1by", 0),
]
CONTEXT = [
    Part("system prompt", 12_000), Part("tools", 18_300), Part("memory", 90), Part("conversation", 62_000),
    Part("files", 7_000, "error"),
]  # fmt: skip


def everything(width: int, plain: bool) -> list[Content]:
    blank = Content("")
    return [
        *columns(DAYS, width, plain=plain), blank,
        *columns(COSTS, width, 4, form=money, colour="accent", plain=plain), blank,
        *columns(HITS, width, 4, form=percent, most=1, merge="mean", colour="success", plain=plain), blank,
        *bars(MODELS, width, plain=plain), blank,
        *stack(CONTEXT, width, whole=200_000, plain=plain), blank,
        sparkline([point.value for point in DAYS], width, plain=plain), blank,
        *columns([Point("today", 42)], width, 3, plain=plain), blank,
        *columns([], width, plain=plain),
    ]  # fmt: skip


class Window(App[None]):
    CSS = "Screen { background: $background; overflow: hidden }"

    def __init__(self, skin: str, plain: bool = False) -> None:
        super().__init__()
        self.plain = plain
        for known in built_in():
            self.register_theme(known.theme())
        self.theme = skin

    def compose(self) -> ComposeResult:
        yield Static(Content("\n").join(everything(self.size.width, self.plain)))


@pytest.mark.parametrize("width", [36, 80, 200])
def test_looks(snap_compare: Any, width: int) -> None:
    assert snap_compare(Window("default"), terminal_size=(width, 50))


def test_looks_plain_and_light(snap_compare: Any) -> None:
    assert snap_compare(Window("daylight", plain=True), terminal_size=(60, 46))


def test_looks_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Window("default"), terminal_size=(80, 46))


def texts(rows: list[Content]) -> list[str]:
    return [row.plain.rstrip() for row in rows]


def test_bars_are_as_long_as_their_values() -> None:
    assert texts(bars([Bar("a", 1000, "50%"), Bar("bb", 500), Bar("c", 1), Bar("d", 0)], 30)) == [
        "a  ███████████████████  1k 50%",
        "bb █████████▌          500",
        "c  ▏                     1",
        "d                        0",
    ]
    assert texts(bars([Bar("a", 2), Bar("b", 1)], 12, plain=True)) == ["a ######## 2", "b ####     1"]


def test_columns_have_a_scale_and_days() -> None:
    days = [Point("Mon", 8), Point("Tue", 4), Point("Wed", None), Point("Thu", 1)]
    assert texts(columns(days, 40, 4)) == [
        "8 ┤███████",
        "  │███████",
        "4 ┤███████ ███████",
        "  │███████ ███████ ······· ▄▄▄▄▄▄▄",
        "0 └─────────────────────────────────────",
        "   Mon     Tue     Wed     Thu",
    ]
    assert texts(
        columns([Point("Mon", 8), Point("Tue", 4), Point("Wed", None), Point("Thu", 1)], 10, 2, plain=True)
    ) == [
        "8 +#",
        "  |##?.",
        "0 +-------",
        "      Thu",
    ]


def test_days_that_have_no_room_are_put_together() -> None:
    days = [Point(f"{day}", 1.0) for day in range(100)]
    added = columns(days, 36, 2)
    assert added[0].plain.startswith("4 ┤" + "█" * 25 + " ")  # four days each, as many in every one
    mean = columns(days, 36, 2, most=1, merge="mean", form=percent)
    assert mean[0].plain == "100% ┤" + "█" * 30


def test_nothing_and_nought_are_not_the_same() -> None:
    assert sparkline([None, 0, 1, 2], 10).plain == "· ▄█"
    assert sparkline([0, 0], 10).plain == "  "
    assert sparkline([], 10).plain == ""
    assert sparkline([0.001, 1000], 10).plain == "▁█"  # the least there is can be seen
    for nothing in (bars([], 40), columns([], 40), stack([], 40), stack([Part("a", 0)], 40)):
        assert texts(nothing) == ["nothing to show yet"]


def test_a_stack_gives_every_part_a_cell_and_no_more_than_there_are() -> None:
    line, *legend = stack([Part("much", 9_990), Part("little", 1)], 40, whole=20_000)
    assert line.plain.count("▓") == 1
    assert line.plain.count("█") + line.plain.count("▓") + line.plain.count("·") == 40
    told = " ".join(row.plain for row in legend)
    assert "little 1 <1%" in told
    assert "free 10k 50%" in told
    assert "free" not in "".join(row.plain for row in stack([Part("more than there is", 30)], 40, whole=20))


NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-5, 10**14)
LABELS = st.text(max_size=20) | st.sampled_from(["1 Nov", "模型", "\u202eabc", "a\x1b[1mb\n"])


@given(
    values=st.lists(st.tuples(LABELS, NUMBERS | st.none()), max_size=60),
    width=st.integers(36, 200),
    height=st.integers(0, 12),
    plain=st.booleans(),
    merge=st.sampled_from(["sum", "mean"]),
)
def test_whatever_comes_the_rows_are_as_wide_as_asked(
    values: list[tuple[str, float | None]], width: int, height: int, plain: bool, merge: Any
) -> None:
    known = [(label, value or 0) for label, value in values]
    drawn = [
        columns([Point(*value) for value in values], width, height, plain=plain, merge=merge),
        columns([Point(*value) for value in values], width, height, plain=plain, merge=merge, most=1.0, form=percent),
        bars([Bar(label, value, label) for label, value in known], width, plain=plain, form=money),
        stack([Part(*value) for value in known], width, plain=plain, whole=known[0][1] if known else 0),
    ]
    for rows in drawn:
        assert rows
        for row in rows:
            assert row.cell_length == width or row.plain == "nothing to show yet"
            assert not set(row.plain) & {"\n", "\x1b", "\u202e"}
    assert sparkline([value for _, value in values], width, plain=plain).cell_length <= width


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=30))
def test_a_higher_value_is_never_drawn_lower(values: list[float]) -> None:
    drawn = columns([Point("", value) for value in values], 80, 6)[:-2]
    axis = next(at for at, sign in enumerate(drawn[1].plain) if sign == "│") + 1
    step = max(1, min(8, (80 - axis) // len(values)))
    heights = [sum(" ▁▂▃▄▅▆▇█".index(row.plain[axis + at * step]) for row in drawn) for at in range(len(values))]
    ranked = [height for _, height in sorted(zip(values, heights, strict=True))]
    assert ranked == sorted(ranked)
    assert all(height > 0 for value, height in zip(values, heights, strict=True) if value > 0)
