"""An answer that is shown while it is written is, in the end, there once and whole."""

import random
import time

import pytest
from delivery_judge import judge
from far_end import FarEnd
from gateway_house import context_of, end_drafts, rows_of
from post import outgoing, play_turn

from hermes_core.types import Called, Ended, Noticed, Said, Session, Started, ToolCall, Usage
from hermes_platform_gateway.config import GatewaySettings
from hermes_platform_gateway.outward.live_message import LiveMessage
from hermes_platform_gateway.outward.pieces import pieces_of
from hermes_platform_gateway.outward.progress import CURSOR, Progress
from hermes_platform_gateway.outward.sender import PLACEHOLDER, Sender

CALM = dict.fromkeys(("lost", "silent", "flood", "cut", "no_edit"), 0.0)
STARTED = Started(session_id="s", turn_id="t", provider="p", model="m")
ANSWER = " ".join(f"Part {number} of an answer that does not fit into one message." for number in range(6))


def ended(answer: str = ANSWER, reason: str = "done") -> Ended:
    return Ended(session_id="s", turn_id="t", answer=answer, reason=reason, usage=Usage())


def called(name: str, **arguments: str) -> Called:
    return Called(call=ToolCall(id="1", name=name, arguments=arguments))


def said(text: str = ANSWER) -> list:
    return [Said(text=text[at : at + 9]) for at in range(0, len(text), 9)]


class Show:
    """A service, who sends there, and what shows a turn."""

    def __init__(self, store, folder, kind="edits", *, seed=0, key="turn:t", **settings):
        self.skipped, clock = 0.0, lambda: time.time() + self.skipped
        self.far = FarEnd(folder / "seen", kind, seed=seed, limit=200, odds=settings.pop("odds", CALM), clock=clock)
        self.far.waits = (0.005, 0.02)
        self.store, self.sender = store, Sender(context_of(store), self.far, clock=clock)
        settings = GatewaySettings(**({"edit_seconds": 0.003, "edit_chars": 5} | settings))
        self.answer = outgoing(key, "", turn_id="t", reply_to="7")
        self.live = LiveMessage(self.sender, self.answer, settings)

    async def close(self, text: str = "") -> None:
        """The turn is closed, and its answer is stored; then whoever shows it hears of that."""
        if text:
            await rows_of(self.store).outbox.send_later(outgoing("turn:t", text, turn_id="t", reply_to="7"))
        await self.live.close()

    async def sent(self) -> None:
        """Let time pass until everything is sent."""
        while await rows_of(self.store).outbox.next_due("far", "bot") is not None:
            self.skipped += await self.sender.settle() + 0.01

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.far.seen()]


@pytest.fixture
def show(store, tmp_path):
    return lambda *args, **more: Show(store, tmp_path, *args, **more)


async def test_the_answer_grows_in_messages_that_the_final_text_goes_into(show):
    here = show()
    await play_turn(here.live, [STARTED, *said()])
    grown = [line["text"] for line in here.far.lines() if line["edit"]]
    assert len(grown) > 5
    assert any(text.endswith(CURSOR) for text in grown)
    await play_turn(here.live, [ended()])
    await here.close(ANSWER)
    shown = len(here.texts)
    await here.sent()
    judge(here.far, [("c", piece.parts[0].text) for piece in pieces_of(outgoing("k", ANSWER).message, here.far)])
    assert len(here.texts) == shown == 2, "what was shown was edited, not sent again"
    assert here.far.typing == 1


@pytest.mark.parametrize("kind", ["edits", "keyed", "deletes"])
async def test_faults_cost_the_show_and_never_the_answer(show, kind, seed):
    random.seed(seed)
    here = show(kind, seed=seed, odds={"lost": 0.05, "silent": 0.05, "flood": 0.15, "cut": 0.05})
    await play_turn(here.live, [STARTED, called("terminal", command="ls"), *said(), ended()])
    await here.close(ANSWER)
    here.far.odds = CALM
    await here.sent()
    judge(here.far, [("c", piece.parts[0].text) for piece in pieces_of(outgoing("k", ANSWER).message, here.far)])


@pytest.mark.parametrize("hang", [False, True])
async def test_what_is_shown_never_stands_above_what_was_said_before(show, hang):
    """The answer before it was refused, or nobody knows whether it arrived: it is sent again in a while."""
    here = show(odds=CALM | ({"silent": 1.0} if hang else {"cut": 1.0}))
    await rows_of(here.store).outbox.send_later(outgoing("turn:before", "The first.", turn_id="before"))
    await here.sender.settle()
    here.far.odds, before = CALM, len(here.far.lines())
    await play_turn(here.live, [STARTED, *said()])
    assert len(here.far.lines()) == before, "it overtakes what waits"
    await here.sent()
    assert "The first." in here.texts
    await play_turn(here.live, said("And that is that."))
    assert here.far.lines()[-1]["edit"], "and once that is said, it is shown"
    await play_turn(here.live, [ended("The second.")])
    await here.close("The second.")
    await here.sent()
    judge(here.far, [("c", "The first."), ("c", "The second.")])


async def test_the_sender_waits_for_the_last_edit(show):
    """The turn is closed and its answer due before whoever shows it knows."""
    here = show()
    await play_turn(here.live, [STARTED, *said()[:9]])
    await rows_of(here.store).outbox.send_later(outgoing("turn:t", "Short.", turn_id="t"))
    await here.sent()
    assert [text for text in here.texts if text != PLACEHOLDER] == ["Short."]
    await play_turn(here.live, said())
    await here.close()
    assert [text for text in here.texts if text != PLACEHOLDER] == ["Short."]


async def test_a_turn_that_goes_on_after_a_death_is_shown_in_the_same_messages(show, store):
    first = show()
    await play_turn(first.live, [STARTED, *said()[:9]])
    await first.close()
    [row] = await rows_of(store).outbox.outbox_of(key="turn:t")
    assert (row.state, len(row.placeholders)) == ("draft", 1)
    again = show()
    await play_turn(again.live, [STARTED, *said()])
    await again.close("The end.")
    await again.sent()
    assert [text for text in again.texts if text != PLACEHOLDER] == ["The end."]
    assert again.far.lines()[0]["id"] == row.placeholders[0]
    assert again.texts[0] == "The end."


async def test_a_turn_that_was_stopped_says_so(show):
    here = show()
    await play_turn(here.live, [STARTED, *said("This will be cut off right here.")])
    await play_turn(here.live, [ended("", "interrupted")])
    await here.close()
    await here.sent()
    assert here.texts == ["This will be cut off right here.\n\n(stopped)"]


@pytest.mark.parametrize(("kind", "left"), [("deletes", []), ("edits", [PLACEHOLDER])])
async def test_what_was_shown_of_more_than_the_answer_is_taken_away(show, kind, left):
    here = show(kind)
    await play_turn(here.live, [STARTED, *said(), *said()])
    shown = len(here.texts)
    assert shown > 2
    await here.close("Short.")
    await here.sent()
    assert here.texts == ["Short.", *left * (shown - 1)]


@pytest.mark.parametrize(("kind", "left"), [("deletes", []), ("edits", [PLACEHOLDER])])
async def test_what_was_shown_of_an_answer_that_is_none_is_taken_away(show, store, kind, left):
    here = show(kind, tool_progress="off")
    await play_turn(here.live, [STARTED, *said("Let me see")])
    await play_turn(here.live, [Noticed(text="Again."), ended("NO_REPLY")])
    await here.close()
    await here.sent()
    assert here.texts == left
    [row] = await rows_of(store).outbox.outbox_of(key="turn:t")
    assert row.state not in ("draft", "waiting", "sending")


@pytest.mark.parametrize("kind", ["deletes", "edits"])
async def test_faults_do_not_leave_what_was_shown_of_an_answer_that_is_none(show, store, kind, seed):
    random.seed(seed)
    here = show(kind, seed=seed, tool_progress="off")
    await play_turn(here.live, [STARTED, *said("Let me see")])
    await play_turn(here.live, [Noticed(text="Again."), ended("NO_REPLY")])
    here.far.odds = {"lost": 0.3, "silent": 0.3, "flood": 0.3, "cut": 0.3, "no_edit": 0.0}
    await here.close()
    await here.sent()
    assert here.texts in ([], [] if kind == "deletes" else [PLACEHOLDER])
    [row] = await rows_of(store).outbox.outbox_of(key="turn:t")
    # Where the first fault came before anything was shown, its draft is empty, and forgotten with old ones.
    assert row.state not in ("waiting", "sending")
    assert row.state != "draft" or not row.placeholders
    assert not here.far.impatient


async def test_a_model_that_says_only_what_a_placeholder_says_has_said_it(show):
    here = show("deletes")
    await play_turn(here.live, [STARTED, *said("Let me see. Hm, well")])
    await here.close(PLACEHOLDER)
    await here.sent()
    assert here.texts == [PLACEHOLDER]


@pytest.mark.parametrize("token", ["NO_REPLY", "[SILENT]", " no_reply.\n"])
async def test_a_word_for_silence_is_never_shown(show, token):
    here = show()
    await play_turn(here.live, [STARTED, *[Said(text=letter) for letter in token], ended(token)])
    await here.close()
    await here.sent()
    assert here.far.lines() == []


async def test_a_short_turn_is_not_shown_at_all(show):
    here = show(edit_seconds=5.0)
    await play_turn(here.live, [STARTED, *said("Hello."), ended("Hello.")])
    await here.close("Hello.")
    await here.sent()
    assert here.texts == ["Hello."]


@pytest.mark.parametrize(("kind", "settings"), [("plain", {}), ("edits", {"streaming": False, "tool_progress": "off"})])
async def test_where_nothing_can_or_should_be_shown_only_the_answer_is_sent(show, kind, settings):
    here = show(kind, **settings)
    await play_turn(here.live, [STARTED, called("terminal"), *said(), ended()])
    await here.close("The end.")
    assert here.far.lines() == []
    await here.sent()
    assert here.texts == ["The end."]


async def test_an_answer_that_was_shown_and_never_came_is_ended(show, store):
    """Its turn was given up while nobody could tell."""
    here = show()
    await store.sessions.create(Session(id="s", origin="far"))
    turn = await store.journal.open_turn(
        "s", outgoing("k", "hi").message, turn_id="t", holder="h", provider="", model=""
    )
    await play_turn(here.live, [STARTED, *said()[:9]])
    await here.close()
    assert await end_drafts(store, "far", "bot", outgoing("k", "(no answer)").message, time.time() + 60) == 0
    await store.journal.close_turn(turn, state="failed")
    assert await end_drafts(store, "far", "bot", outgoing("k", "(no answer)").message, time.time() + 60) == 1
    await here.sent()
    assert here.texts == ["(no answer)"]


@pytest.mark.parametrize(
    ("streaming", "tools", "text"),
    [
        (True, "new", "I look.\n⚙ read_file: `a b`\n⚙ terminal\n\nSo then ▌"),
        (True, "all", "I look.\n⚙ read_file: `a b`\n⚙ read_file: `*** and more`\n⚙ terminal\n\nSo then ▌"),
        (False, "new", "⚙ read_file: `a b`\n⚙ terminal"),
        (True, "off", "I look.\n\nSo then ▌"),
        (False, "off", ""),
    ],
)
def test_what_a_running_turn_looks_like(streaming, tools, text):
    progress = Progress(streaming, tools, mask=lambda words: words.replace("secret", "***"))
    calls = [called("read_file", path="a\n b"), called("read_file", path="secret and more"), called("terminal", n="")]
    for event in (STARTED, Said(text="I look."), *calls, Said(text="Oh"), Noticed(text="Again."), Said(text="So then")):
        progress.add(event)
    assert progress.text() == text
    assert progress.wanted == (streaming or tools != "off")
