"""What a person sees during a turn, on a terminal emulated by pyte."""

import asyncio
import os
from collections.abc import Callable, Iterator

import pyte
import pytest

from hermes_core.types import (
    Asked,
    Called,
    Ended,
    Event,
    Failed,
    Message,
    Progress,
    Question,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
)
from hermes_platform_cli.config import Config
from hermes_platform_cli.screen import Screen
from hermes_platform_cli.view import TurnView

CALL = ToolCall(id="c1", name="terminal", arguments={"command": "make\ntest"})
STARTED = Started(session_id="s", turn_id="t", provider="p", model="m")
NAUGHTY = [
    "\x1b[2J\x1b[H",
    "\x1b]0;owned\x07",
    "\ud83d",
    "שלום עולם",
    "مرحبا",
    "a\u200bb",
    "Z̷͎a̷l̸g̴o",
    "👩\u200d👩\u200d👧 🏳️\u200d🌈 🇰🇷",
    "ﷺ",
    "\x9b5A",
    "日本語テキスト",
    "\r\r\r",
    "\t\t",
    "`" * 7,
    "|" * 30,
    "[x](javascript:alert)",
    "\x00",
]


async def until(true: Callable[[], object]) -> None:
    """Let the loop, or another program, go on until something is so."""
    while not true():
        await asyncio.sleep(0.001)


class Emulated:
    """A view with a terminal behind it and a clock that stands still until it is moved."""

    def __init__(self, columns: int = 60, lines: int = 24, **settings: object) -> None:
        self.terminal = pyte.HistoryScreen(columns, lines, history=5000, ratio=0.5)
        self.terminal.set_mode(pyte.modes.LNM)
        self._stream = pyte.Stream(self.terminal)
        self.now = 0.0
        self.written = 0
        config = Config(**settings)  # type: ignore[arg-type]
        self.view = TurnView(Screen(self.write, self.size), config, clock=lambda: self.now)

    def write(self, text: str) -> None:
        self.written += len(text)
        self._stream.feed(text)

    def size(self) -> os.terminal_size:
        return os.terminal_size((self.terminal.columns, self.terminal.lines))

    def show(self, *events: Event) -> None:
        for event in events:
            self.now += 1
            self.view.show(event)

    @property
    def rows(self) -> list[str]:
        top = ["".join(line[x].data for x in range(self.terminal.columns)) for line in self.terminal.history.top]
        rows = [row.rstrip() for row in [*top, *self.terminal.display]]
        while rows and not rows[-1]:
            rows.pop()
        return rows


@pytest.fixture
async def seen() -> Iterator[Emulated]:  # type: ignore[misc]
    emulated = Emulated()
    yield emulated
    emulated.view.stop()


def ended(answer: str = "", reason: str = "done") -> Ended:
    usage = Usage(input=12_345, output=67, cost=0.5)
    return Ended(session_id="s", turn_id="t", answer=answer, reason=reason, usage=usage)  # type: ignore[arg-type]


def returned(text: str = "", *, failed: bool = False) -> Returned:
    result = ToolResult(call_id="c1", name="terminal", parts=[Text(text=text)], failed=failed)
    return Returned(call=CALL, result=result, seconds=0.25)


async def test_an_answer_is_plain_while_it_grows_and_rendered_when_done(seen: Emulated) -> None:
    seen.show(STARTED, Said(text="It is **so"))
    assert seen.rows == ["", "It is **so", "", "⠇ 1.0s · Ctrl+C stops"]
    seen.show(Said(text="**.\n\nNext"))
    assert seen.rows[:4] == ["", "It is so.", "", "Next"]
    seen.show(ended())
    assert seen.rows == ["", "It is so.", "", "Next", "", "12.3k in · 67 out · $0.50 · 3.0s"]


async def test_a_call_is_live_and_then_one_line_with_its_result(seen: Emulated) -> None:
    seen.show(STARTED, Called(call=CALL), *(Progress(call_id="c1", text=f"line {n}\n") for n in range(9)))
    assert seen.rows[1][4:] == "terminal   make ↵ test  9.0s"
    assert seen.rows[2:6] == [f"┊     line {n}" for n in (5, 6, 7, 8)]
    seen.show(returned("1\n2\n3\n4\n5"), ended())
    assert seen.rows[1:6] == [
        "┊ ✓ terminal   make ↵ test  0.2s",
        "┊     1",
        "┊     2",
        "┊     3",
        "┊     … 2 more lines",
    ]


async def test_a_failed_call_is_marked(seen: Emulated) -> None:
    seen.show(STARTED, Called(call=CALL), returned("no", failed=True), ended())
    assert seen.rows[1:3] == ["┊ ✗ terminal   make ↵ test  0.2s", "┊     no"]


async def test_the_feed_can_be_lines_only_or_off() -> None:
    lines, off = Emulated(tool_feed="lines", usage=False), Emulated(tool_feed="off", usage=False)
    for emulated in (lines, off):
        emulated.show(STARTED, Called(call=CALL), Progress(call_id="c1", text="x"), returned("no"), ended("done"))
        emulated.view.stop()
    assert lines.rows == ["", "┊ ✓ terminal   make ↵ test  0.2s", "", "done"]
    assert off.rows == ["", "done"]


@pytest.mark.parametrize(
    ("how", "wanted"), [("folded", ["┊ thought    1.0s"]), ("full", ["┊ one two", "┊ three"]), ("off", [])]
)
async def test_thinking_is_folded_full_or_off(how: str, wanted: list[str]) -> None:
    emulated = Emulated(reasoning=how, usage=False)
    emulated.show(STARTED, Thinking(text="one two\nthree"))
    assert (how == "off") is ("one two" not in "".join(emulated.rows))
    emulated.show(ended())
    emulated.view.stop()
    assert [row for row in emulated.rows if row] == wanted


async def test_failing_says_what_and_what_now(seen: Emulated) -> None:
    seen.show(STARTED, Failed(kind="auth_error", text="No key.", hint="Set one."), ended(reason="failed"))
    assert seen.rows == ["", "✗ No key.", "  Set one."]


async def test_an_interrupted_turn_keeps_what_was_said(seen: Emulated) -> None:
    seen.show(STARTED, Said(text="half an ans"))
    seen.view.stopping = True
    seen.view.paint()
    assert seen.rows[-1].endswith("stopping…")
    seen.show(ended(reason="interrupted"))
    assert seen.rows[:4] == ["", "half an ans", "", "Stopped."]


async def test_an_answer_that_was_not_streamed_is_shown(seen: Emulated) -> None:
    seen.show(STARTED, Said(text="Looking."), Called(call=CALL), returned(), ended("Found."))
    assert [row for row in seen.rows if row][:3] == ["Looking.", "┊ ✓ terminal   make ↵ test  0.2s", "Found."]


async def test_a_verdict_from_elsewhere_is_shown_and_our_own_is_not(seen: Emulated) -> None:
    question = Question(id="q1", kind="approval", subject="terminal: rm")
    seen.view.answered.add("q1")
    verdict = Verdict(outcome="deny", reason="nobody is there")
    seen.show(STARTED, Asked(question=question, verdict=verdict), Asked(question=question, verdict=verdict), ended())
    assert seen.rows[1] == "┊ asked: terminal: rm → deny (nobody is there)"
    assert sum("asked" in row for row in seen.rows) == 1


async def test_a_notice_stands_apart(seen: Emulated) -> None:
    seen.show(STARTED, Said(text="text\n\n"))
    seen.view.message(Message(role="assistant", parts=[Text(text="by\nthe way")]))
    seen.show(ended())
    assert seen.rows[:5] == ["", "text", "", "by", "the way"]


async def test_markdown_off_shows_what_was_written() -> None:
    emulated = Emulated(markdown=False, usage=False)
    emulated.show(STARTED, Said(text="# a\n**b"), Said(text="**\n"), ended())
    emulated.view.stop()
    assert emulated.rows == ["", "# a", "**b**"]


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
@pytest.mark.parametrize("piece", NAUGHTY)
@pytest.mark.few(10)
async def test_naughty_text_leaves_the_screen_whole(columns: int, piece: str) -> None:
    emulated = Emulated(columns)
    emulated.show(STARTED)
    for _ in range(15):
        emulated.show(Said(text=f"{piece} x "), Thinking(text=piece))
    emulated.show(Called(call=CALL), Progress(call_id="c1", text=piece * 9), returned(piece), ended("end"))
    emulated.view.stop()
    assert len(emulated.rows) > emulated.terminal.lines, "nothing was scrolled away"
    assert emulated.terminal.title == ""
    assert emulated.terminal.cursor.hidden is False
    rows = emulated.rows
    assert rows[0] == ""
    assert not [row for row in rows if "Ctrl+C" in row], "a live row was left behind"
    assert any("┊ ✓ terminal" in row for row in rows)
    assert "end" in rows


async def test_a_live_region_on_a_terminal_that_became_narrower_is_erased_whole() -> None:
    emulated = Emulated(80, usage=False)
    emulated.show(STARTED, Said(text="word " * 15))
    emulated.terminal.reset()  # pyte does not fold rows as terminals do: draw what they would show
    emulated.terminal.set_mode(pyte.modes.LNM)
    emulated.terminal.resize(24, 40)
    folded = "word " * 15
    emulated.write("\n" + "\n".join(folded[i : i + 40] for i in range(0, 75, 40)) + "\n\n⠴ 1.0s · Ctrl+C stops")
    emulated.show(ended())
    emulated.view.stop()
    assert emulated.rows == ["", " ".join(["word"] * 8), " ".join(["word"] * 7)]


class Counted(Emulated):
    """Nobody looks at its terminal."""

    def write(self, text: str) -> None:
        self.written += len(text)


async def test_a_long_answer_costs_no_more_than_in_proportion() -> None:
    def cost(tokens: int) -> int:
        emulated = Counted(80, 24)
        emulated.show(STARTED)
        for number in range(tokens):
            emulated.now += 0.002
            emulated.view.show(Said(text=f"w{number % 97} " if number % 400 else "\n\n"))
        emulated.show(ended())
        emulated.view.stop()
        return emulated.written

    assert cost(8000) < 5 * cost(2000)


async def test_one_endless_line_is_no_burden() -> None:
    emulated = Emulated(80, 24)
    emulated.show(STARTED)
    for _ in range(5000):
        emulated.now += 0.001
        emulated.view.show(Said(text="word "))
    emulated.show(ended())
    emulated.view.stop()
    assert " ".join(emulated.rows).count("word") == 5000
    assert emulated.written < 500_000


async def test_the_spinner_goes_on_by_itself_and_ends(seen: Emulated) -> None:
    seen.show(STARTED)
    before = seen.rows[-1]
    seen.now += 1.3
    async with asyncio.timeout(5):
        await until(lambda: seen.rows[-1] != before)
    seen.show(ended())
    assert seen.view._timer is None
