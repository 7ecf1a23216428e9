"""Any events in any order, and any text in them."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.widget import Widget
from textual.widgets import Static

from hermes_core.types import (
    Asked,
    Blob,
    Called,
    Ended,
    Event,
    Failed,
    Noticed,
    Progress,
    Question,
    Returned,
    Said,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Used,
    Verdict,
)
from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript import Transcript
from hermes_platform_tui.transcript.entries import Action, Kept, Speech
from hermes_platform_tui.transcript.feed import Feed
from hermes_platform_tui.transcript.page import Page

from .transcript_scenes import STARTED, Stage, call, called, ended, play, returned, screen_of

pytestmark = pytest.mark.long

HOSTILE = (
    "\x1b]0;title\x07\x1b[31mred\x1b[0m \u202eright\x00\x9b2J [bold]not bold[/] [/x] {braces} \ud800 e\u0301 漢字 "
    "\U0001f469\u200d\U0001f467"
)
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

IDS = st.sampled_from(["a", "b", ""])
WORDS = st.sampled_from(["one", "two words", "line\nline", "", " ", HOSTILE, "[x] done\n[ ] open", "1 ▸ step\n"])
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "command",
    "path",
    "url",
    "query",
    "todos",
    "tasks",
    "pattern",
    "old",
    "new",
    "content",
    "patch",
    "offset",
    "limit",
]
ARGUMENTS = st.dictionaries(st.sampled_from(KEYS) | WORDS, JSONS, max_size=4)
CALLS = st.builds(ToolCall, id=IDS, name=WORDS, arguments=ARGUMENTS, invalid=st.sampled_from(["", HOSTILE]))
BLOBS = st.builds(Blob, media_type=WORDS, data=st.none() | st.binary(max_size=3), path=st.none() | WORDS, name=WORDS)
PARTS = st.lists(st.builds(Text, text=WORDS) | BLOBS, max_size=3)
RESULTS = st.builds(ToolResult, call_id=IDS, name=WORDS, parts=PARTS, failed=st.booleans(), untrusted=st.booleans())
VERDICTS = st.builds(Verdict, outcome=st.sampled_from(["allow", "deny", "ask"]), reason=WORDS, by=WORDS, choice=WORDS)
QUESTIONS = st.builds(Question, id=IDS, kind=st.sampled_from(["approval", "choice", "text"]), subject=WORDS)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.just(STARTED),
    st.builds(Said, text=WORDS),
    st.builds(Thinking, text=WORDS),
    st.builds(Called, call=CALLS),
    st.builds(Progress, call_id=IDS, text=WORDS),
    st.builds(Returned, call=CALLS, result=RESULTS, seconds=st.floats(0, 1e6)),
    st.builds(Asked, question=QUESTIONS, verdict=VERDICTS),
    st.builds(Noticed, text=WORDS),
    st.builds(Used, usage=st.just(Usage())),
    st.builds(Failed, kind=st.just("failed"), text=WORDS, hint=WORDS),
    st.builds(
        Ended,
        session_id=st.just("s"),
        turn_id=st.just("t"),
        answer=WORDS,
        reason=st.sampled_from(["done", "failed", "interrupted"]),
        usage=st.builds(Usage, input=st.integers(0, 10**7), cost=st.floats(0, 100), priced=st.just("estimated")),
        note=WORDS,
    ),
)


def feed_of(config: Config | None = None) -> Feed:
    return Feed(config or Config(), lambda: datetime(2026, 3, 3, tzinfo=UTC), lambda: 5.0)


def texts_of(event: Event) -> Sequence[str]:
    """What a person has to see of an event."""
    match event:
        case Said() | Thinking() | Noticed() | Failed() | Progress():
            return [event.text]
        case Returned():
            return [part.text for part in event.result.parts if isinstance(part, Text)]
        case Asked():
            return [event.question.subject]
        case Ended():
            return [event.note]
    return []


@given(st.lists(EVENTS, max_size=30))
def test_any_order_of_events_shows_all_texts(events: list[Event]) -> None:
    feed = feed_of()
    for event in events:
        feed.show(event)
    words = "\n".join(entry.words() for entry in feed.entries)
    progress = "\n".join(entry.told.whole() for entry in feed.entries if isinstance(entry, Action))
    for event in events:
        for text in texts_of(event):
            for known in ("one", "two words", "line", "not bold"):
                assert known not in text or known in words or known in progress


@pytest.mark.long
@given(st.lists(EVENTS, max_size=12))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
async def test_any_order_of_events_can_be_drawn_and_nothing_drives_the_terminal(events: list[Event]) -> None:
    stage = Stage(Config(reasoning="expanded", tools="expanded", timestamps=True))
    async with stage.run_test(size=(60, 30)) as pilot:
        for event in events:
            stage.transcript.show(event)
            stage.transcript.flush()
        await pilot.pause()
        await pilot.pause()
        assert not FORBIDDEN.search(screen_of(stage))


def hostile(transcript: Transcript) -> None:
    """The same text in every place a text can come from."""
    bad = ToolCall(id="x", name=HOSTILE, arguments={"path": HOSTILE, HOSTILE: HOSTILE})
    broken = ToolCall(id="y", name="broken", arguments={}, invalid=HOSTILE)
    blob = Blob(media_type=HOSTILE, data=b"1", name=HOSTILE)
    question = Question(id="q", kind="approval", subject=HOSTILE)
    verdict = Verdict(outcome="allow", reason=HOSTILE, by=HOSTILE, choice=HOSTILE)
    transcript.say(HOSTILE, [blob])
    transcript.note(HOSTILE)
    transcript.answer(HOSTILE)
    transcript.fail(HOSTILE, HOSTILE)
    play(transcript, [STARTED, Thinking(text=HOSTILE), called(bad), Progress(call_id="x", text=HOSTILE)])
    play(transcript, [returned(bad, HOSTILE, blobs=[blob]), called(broken), returned(broken, HOSTILE, failed=True)])
    play(transcript, [Asked(question=question, verdict=verdict), Noticed(text=HOSTILE), Said(text=HOSTILE)])
    play(transcript, [Failed(kind="x", text=HOSTILE, hint=HOSTILE), ended(HOSTILE, "failed", note=HOSTILE)])


@pytest.mark.parametrize("fold", ["collapsed", "expanded"])
async def test_hostile_text_is_shown_as_text_in_every_place(fold: Any) -> None:
    stage = Stage(Config(reasoning=fold, tools=fold))
    async with stage.run_test(size=(100, 90)) as pilot:
        hostile(stage.transcript)
        stage.transcript.flush()
        await pilot.pause()
        await pilot.pause()
        shown = screen_of(stage)
        assert not FORBIDDEN.search(shown)
        assert "title" not in shown
        assert shown.count("[bold]not bold[/] [/x]") >= 10  # as it was written: nothing takes it for markup


async def test_a_person_s_message_waits_below_all_else_until_its_turn() -> None:
    stage = Stage()
    async with stage.run_test(size=(60, 20)) as pilot:
        transcript = stage.transcript
        transcript.say("First.")
        play(transcript, [STARTED, Said(text="Working on it.")])
        transcript.say("Second.", pending=True)
        transcript.say("Third.", pending=True)
        transcript.flush()
        play(transcript, [called(call("terminal", command="ls")), Said(text="The first is done."), ended()])
        transcript.flush()
        await pilot.pause()
        lines = [line.strip("▌ ") for line in screen_of(stage).split("\n") if line.strip("▌ ")]
        assert lines[-4:] == ["Second.", "queued", "Third.", "queued"]
        play(transcript, [STARTED, Said(text="The second is done.")])
        transcript.flush()
        await pilot.pause()
        await pilot.pause()
        lines = [line.strip("▌ ") for line in screen_of(stage).split("\n") if line.strip("▌ ")]
        assert lines[-4:] == ["Second.", "The second is done.", "Third.", "queued"]


async def test_a_message_that_waits_is_not_taken_for_the_one_whose_turn_begins() -> None:
    feed = feed_of()
    feed.say("First.")
    feed.say("Second.", pending=True)
    feed.say("Third.", pending=True)
    feed.show(STARTED)
    assert [entry.pending for entry in feed.entries if isinstance(entry, Speech)] == [False, True, True]
    feed.show(ended())
    assert feed.withdraw("Second.")
    assert not feed.withdraw("First.")
    feed.show(STARTED)
    said = [(entry.text, entry.pending) for entry in feed.entries if isinstance(entry, Speech)]
    assert said == [("First.", False), ("Third.", False)]


async def test_a_message_that_waits_can_be_taken_back() -> None:
    stage = Stage()
    async with stage.run_test(size=(60, 20)) as pilot:
        stage.transcript.say("Wait.", pending=True)
        stage.transcript.say("Stay.", pending=True)
        stage.transcript.flush()
        await pilot.pause()
        assert stage.transcript.withdraw("Wait.")
        await pilot.pause()
        await pilot.pause()
        assert [line.strip("▌█ ") for line in screen_of(stage).split("\n") if line.strip("▌█ ")] == ["Stay.", "queued"]


async def test_a_thousand_events_cost_few_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    async with stage.run_test(size=(60, 20)) as pilot:
        run = call("terminal", command="yes")
        play(stage.transcript, [STARTED, called(run)])
        stage.transcript.flush()
        await pilot.pause()
        layouts = 0
        arrange = Page.arrange

        def count(page: Page, size: Size, optimal: bool = False) -> DockArrangeResult:
            nonlocal layouts
            layouts += 1
            return arrange(page, size, optimal)

        monkeypatch.setattr(Page, "arrange", count)
        for number in range(1_000):
            stage.transcript.show(Progress(call_id=run.id, text=f"output {number}\n"))
            if not number % 100:
                await pilot.pause()
        stage.transcript.flush()
        await pilot.pause()
        assert "output 999" in screen_of(stage)
        assert layouts <= 60  # a layout for each event would be a thousand
        play(stage.transcript, [Said(text=f"word {number} ") for number in range(1_000)])
        layouts = 0
        stage.transcript.flush()
        await pilot.pause()
        assert layouts <= 20


async def test_of_a_huge_result_both_ends_are_shown() -> None:
    stage = Stage(Config(tools="expanded"))
    async with stage.run_test(size=(60, 200)) as pilot:
        read = call("fetch", url="https://example.org/huge")
        text = "the beginning\n" + "x" * 79 * 1_000 + "\n" + "filler\n" * 900_000 + "the end"
        play(stage.transcript, [STARTED, called(read), returned(read, text)])
        stage.transcript.flush()
        await pilot.pause()
        await pilot.pause()
        shown = screen_of(stage)
        for words in ("the beginning", "characters left out", "the end"):
            assert words in shown


def test_an_answer_that_was_not_streamed_is_shown_once() -> None:
    feed = feed_of()
    for event in (STARTED, Said(text="The answer."), ended("The answer."), STARTED, ended("Another.")):
        feed.show(event)
    assert [entry.text for entry in feed.entries if isinstance(entry, Speech)] == ["The answer.", "Another."]


def test_calls_that_never_end_are_marked_when_the_turn_does() -> None:
    feed = feed_of()
    for event in (STARTED, called(call("terminal", command="sleep 99")), ended(reason="interrupted")):
        feed.show(event)
    action = next(entry for entry in feed.entries if isinstance(entry, Action))
    assert action.state == "stopped"
    assert not feed.live


@given(st.lists(st.text(max_size=50) | st.integers(1, 400_000).map("x".__mul__), max_size=12))
def test_of_an_output_the_ends_are_kept_and_the_rest_is_counted(pieces: list[str]) -> None:
    kept = Kept()
    for piece in pieces:
        kept.add(piece)
    whole, text = kept.whole(), "".join(pieces)
    assert len(whole) <= 800_100
    assert whole.startswith(text[:200_000])
    assert whole.endswith(text[-1_000:])
    if len(text) <= 800_000:
        assert whole == text
    else:
        assert f"{len(text) - 800_000:,} characters left out" in whole
    assert len(kept.shown()) <= 50_000


async def test_pictures_are_shown_by_who_can_and_named_in_any_case() -> None:
    asked: list[Blob] = []

    def picture(blob: Blob) -> Widget | None:
        asked.append(blob)
        return Static("(a cat)") if blob.media_type == "image/png" else None

    stage = Stage()
    stage.transcript = Transcript(config=Config(), picture=picture)
    async with stage.run_test(size=(60, 20)) as pilot:
        cat = Blob(media_type="image/png", name="cat.png", data=b"x" * 2_000)
        look = call("screenshot")
        play(stage.transcript, [STARTED, called(look), returned(look, "Here it is.", blobs=[cat])])
        stage.transcript.say("And this?", [Blob(media_type="application/pdf", path="/tmp/a/paper.pdf")])
        stage.transcript.flush()
        await pilot.pause()
        await pilot.pause()
        shown = screen_of(stage)
        assert "[image: cat.png, 2 KB]" in shown
        assert "(a cat)" in shown
        assert "[file: paper.pdf]" in shown
        assert len(asked) == 2
