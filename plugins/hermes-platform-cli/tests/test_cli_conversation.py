"""Prompt, turn, question and notice on one screen, typed at through a pipe."""

import asyncio
import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from hermes_core.errors import UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Chat, Ended, Envelope, Message, Noticed, Question, Said, Started, Text, Usage
from hermes_platform_cli.config import Config
from hermes_platform_cli.platform import Cli
from hermes_platform_cli.streams import Streams
from hermes_platform_kit.asking import keys_of, lines_of

CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
STARTED = Started(session_id="s", turn_id="t", provider="p", model="m")
ENDED = Ended(session_id="s", turn_id="t", answer="", reason="done", usage=Usage())


async def until(true: Callable[[], object]) -> None:
    """Let the loop, or another program, go on until something is so."""
    while not true():
        await asyncio.sleep(0.001)


class Terminal(FakeConsole):
    async def interrupt(self, chat: str) -> bool:
        self.interrupted.append(chat)
        return True


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe:
        yield pipe


@pytest.fixture
async def talk(keys: PipeInput, tmp_path: Path) -> "Iterator[Talk]":  # type: ignore[misc]
    talk = Talk(keys, tmp_path)
    await talk.cli.open(talk.console)
    yield talk
    await talk.cli.close()


class Talk:
    def __init__(self, keys: PipeInput, data: Path) -> None:
        self.keys, self.console, self.out, self.now = keys, Terminal(), StringIO(), 0.0
        streams = Streams(stdin=StringIO(), stdout=self.out, stderr=StringIO(), environ={"TERM": "xterm"})
        config = Config(history=False, banner=False)
        clock = lambda: self.now  # noqa: E731
        self.cli = Cli(config, data, streams=streams, source=keys, sink=DummyOutput(), clock=clock)
        self.inbox = self.cli.receive()

    async def say(self, text: str) -> Envelope:
        self.keys.send_text(f"{text}\r")
        return await anext(self.inbox)

    @property
    def seen(self) -> str:
        return CODES.sub("", self.out.getvalue())


def text_of(envelope: Envelope) -> str:
    part = envelope.message.parts[0]
    assert isinstance(part, Text)
    return part.text


async def test_an_open_prompt_gives_way_to_a_turn_and_comes_back_with_what_was_typed(talk: Talk) -> None:
    await talk.cli.ack(await talk.say("first"))
    await talk.cli.show("main", STARTED)
    await talk.cli.show("main", ENDED)
    following = asyncio.ensure_future(anext(talk.inbox))
    talk.keys.send_text("half a ")
    full = talk.cli._face
    await until(
        lambda: full._prompt and full._prompt.text() == "half a "  # type: ignore[union-attr]
    )
    await talk.cli.show("main", STARTED)
    await talk.cli.show("main", Said(text="from a schedule"))
    assert not following.done()
    await talk.cli.show("main", ENDED)
    assert "from a schedule" in talk.seen
    talk.keys.send_text("line\r")
    assert text_of(await following) == "half a line"


async def test_a_notice_is_shown_above_an_open_prompt(talk: Talk) -> None:
    following = asyncio.ensure_future(anext(talk.inbox))
    talk.keys.send_text("keep ")
    full = talk.cli._face
    await until(
        lambda: full._prompt and full._prompt.text() == "keep "  # type: ignore[union-attr]
    )
    await talk.cli.send(Chat("main"), Message(role="assistant", parts=[Text(text="By the way.")]), "k")
    assert "By the way." in talk.seen
    assert full is not None
    assert full._prompt is not None
    above = full._prompt.above = AsyncMock(wraps=full._prompt.above)  # type: ignore[union-attr]
    await talk.cli.show("main", Noticed(text="› from another screen"))
    assert "› from another screen" in talk.seen
    above.assert_awaited_once()
    talk.keys.send_text("this\r")
    assert text_of(await following) == "keep this"


@pytest.mark.parametrize(
    ("key", "outcome", "choice"),
    [
        ("1", "allow", "once"),
        ("o", "allow", "once"),
        ("S", "allow", "session"),
        ("3", "allow", "always"),
        ("d", "deny", "deny"),
        ("\x03", "deny", "deny"),
        ("\x04", "deny", "deny"),
        ("x9\r4", "deny", "deny"),
    ],
)
async def test_one_key_answers_a_request(talk: Talk, key: str, outcome: str, choice: str) -> None:
    await talk.cli.show("main", STARTED)
    talk.keys.send_text(key)
    verdict = await talk.cli.ask("main", Question(id="q", kind="approval", subject="rm \x1b[2J", risk="loss"))
    assert verdict is not None
    assert (verdict.outcome, verdict.choice) == (outcome, choice)
    assert "rm \\x1b[2J" in talk.seen
    await talk.cli.show("main", ENDED)


async def test_a_question_of_the_model_takes_a_line(talk: Talk) -> None:
    talk.keys.send_text("\rblue please\r")
    verdict = await talk.cli.ask("main", Question(id="q", kind="text", subject="Which color?"))
    assert verdict is not None
    assert (verdict.outcome, verdict.choice) == ("allow", "blue please")


async def test_a_long_choice_is_made_by_number_or_name(talk: Talk) -> None:
    question = Question(id="q", kind="choice", subject="Which?", choices=[f"choice {n}" for n in range(12)])
    talk.keys.send_text("99\r11\r")
    verdict = await talk.cli.ask("main", question)
    assert verdict is not None
    assert verdict.choice == "choice 10"


async def test_a_choice_of_the_model_takes_its_number_and_no_letter(talk: Talk) -> None:
    question = Question(id="q", kind="choice", subject="Which?", choices=["red", "blue\n2 green"])
    talk.keys.send_text("b2")
    verdict = await talk.cli.ask("main", question)
    assert verdict is not None
    assert (verdict.outcome, verdict.choice) == ("allow", "blue\n2 green")
    assert "    2 blue 2 green\n" in talk.seen


async def test_what_happens_during_a_question_is_shown_after_it(talk: Talk) -> None:
    await talk.cli.show("main", STARTED)
    asking = asyncio.ensure_future(talk.cli.ask("main", Question(id="q", kind="text", subject="Which color?")))
    await until(lambda: "Which color?" in talk.seen)
    await talk.cli.show("main", Said(text="Meanwhile."))
    await talk.cli.send(Chat("main"), Message(role="assistant", parts=[Text(text="By the way.")]), "k")
    assert "Meanwhile" not in talk.seen
    talk.keys.send_text("blue\r")
    await asking
    await talk.cli.show("main", ENDED)
    seen = talk.seen
    assert seen.index("Answered: blue") < seen.index("Meanwhile.") < seen.index("By the way.")


async def test_the_words_of_a_question_are_not_cut_at_the_border(talk: Talk) -> None:
    long = " ".join(["words"] * 40)
    question = Question(id="q", kind="choice", subject=long, choices=[long])
    talk.keys.send_text("1")
    await talk.cli.ask("main", question)
    asked = talk.seen.partition("Answered")[0]
    assert set(asked.split()) == {"?", "1", "words"}
    assert asked.count("words") == 80
    assert max(map(len, talk.seen.split("\n"))) <= 80


async def test_a_cancelled_question_leaves_the_screen_usable(talk: Talk) -> None:
    await talk.cli.show("main", STARTED)
    asking = asyncio.ensure_future(talk.cli.ask("main", Question(id="q", kind="approval", subject="rm")))
    await until(lambda: "May this run?" in talk.seen)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await talk.cli.show("main", ENDED)
    assert text_of(await talk.say("still here")) == "still here"


async def test_the_first_interrupt_stops_the_turn_and_the_second_ends_the_program(talk: Talk) -> None:
    await talk.cli.show("main", STARTED)
    assert talk.cli._interrupt()
    await asyncio.sleep(0)
    assert talk.console.interrupted == ["main"]
    talk.now += 3
    assert talk.cli._interrupt(), "three seconds later it is a first one again"
    talk.now += 1
    assert not talk.cli._interrupt()
    await talk.cli.show("main", ENDED)
    assert await anext(talk.inbox, None) is None


async def test_an_interrupt_between_turns_is_not_ours(talk: Talk) -> None:
    assert not talk.cli._interrupt()
    assert talk.console.interrupted == []


async def test_a_closed_conversation_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not open"):
        await Cli(Config(), tmp_path).send(Chat("main"), Message(role="assistant", parts=[]), "k")


def test_letters_that_two_choices_share_stand_for_none() -> None:
    words = Question(id="q", kind="approval", subject="rm", choices=["yes", "yesterday", "no"])
    assert keys_of(words) == {"1": "yes", "2": "yesterday", "3": "no", "n": "no"}
    assert lines_of(Question(id="q", kind="choice", subject="When?", choices=["a", "b"])) == ["When?", "  1 a", "  2 b"]


# --- typing while a turn runs --------------------------------------------------------------------------------------


@pytest.fixture
async def busy(keys: PipeInput, tmp_path: Path) -> "Iterator[Talk]":  # type: ignore[misc]
    """A conversation in which a turn runs and the next message is waited for."""
    talk = Talk(keys, tmp_path)
    await talk.cli.open(talk.console)
    await talk.cli.ack(await talk.say("first"))
    await talk.cli.show("main", STARTED)
    talk.following = asyncio.ensure_future(anext(talk.inbox))
    await until(lambda: talk.cli._face._draft)
    yield talk
    talk.following.cancel()
    await asyncio.wait({talk.following})
    await talk.cli.close()


async def test_a_line_is_seen_while_it_grows_and_sent_at_once(busy) -> None:
    busy.keys.send_text("and mor")
    await until(lambda: "❯ and mor▏" in busy.seen)
    busy.keys.send_text("\x7fre\r")
    assert text_of(await busy.following) == "and more"
    await until(lambda: "❯ and more" in busy.seen)


async def test_a_receipt_does_not_cut_a_text_in_two(busy) -> None:
    busy.keys.send_text("more\r")
    await busy.following
    await busy.cli.show("main", Said(text="The quick "))
    await busy.cli.send(Chat("main"), Message(role="assistant", parts=[Text(text="Queued.")]), "k")
    await busy.cli.show("main", Said(text="brown fox."))
    await busy.cli.show("main", ENDED)
    assert "The quick brown fox." in busy.seen
    assert busy.seen.rindex("Queued.") > busy.seen.rindex("brown fox.")


async def test_what_was_not_sent_begins_the_next_prompt(busy) -> None:
    busy.keys.send_text("half a ")
    await until(lambda: "half a" in busy.seen)
    await busy.cli.show("main", ENDED)
    busy.keys.send_text("line\r")
    assert text_of(await busy.following) == "half a line"


async def test_a_question_that_comes_first_has_the_keys_for_itself_too(talk: Talk) -> None:
    await talk.cli.ack(await talk.say("/undo"))
    await talk.cli.show("main", STARTED)
    question = Question(id="q", kind="choice", subject="Really?", choices=["once", "cancel"])
    asking = asyncio.ensure_future(talk.cli.ask("main", question))
    await until(lambda: talk.cli._face._answering)
    following = asyncio.ensure_future(anext(talk.inbox))  # now it listens to what is typed meanwhile
    for _ in range(20):
        await asyncio.sleep(0)
    talk.keys.send_text("2")
    verdict = await asyncio.wait_for(asking, 5)
    assert verdict is not None
    assert verdict.choice == "cancel"
    await talk.cli.show("main", ENDED)
    talk.keys.send_text("next\r")
    assert text_of(await following) == "next"


async def test_a_question_has_the_keys_for_itself(busy) -> None:
    busy.keys.send_text("half a ")
    await until(lambda: "half a" in busy.seen)
    asking = asyncio.ensure_future(busy.cli.ask("main", Question(id="q", kind="text", subject="Which color?")))
    await until(lambda: "Which color?" in busy.seen)
    busy.keys.send_text("blue\r")
    assert (await asking).choice == "blue"
    busy.keys.send_text("line\r")
    assert text_of(await busy.following) == "half a line"


async def test_a_paste_is_one_line_and_control_codes_are_none(busy) -> None:
    busy.keys.send_text("\x1b[200~a\x1b[31m\nb\x1b[201~\r")
    assert text_of(await busy.following) == "a\nb"


async def test_editing_keys(busy) -> None:
    busy.keys.send_text("one two three\x17\x17four")
    await until(lambda: "❯ onefour▏" in busy.seen or "❯ one four▏" in busy.seen)
    busy.keys.send_text("\x15five\r")
    assert text_of(await busy.following) == "five"


async def test_control_c_stops_the_turn_and_keeps_the_line(busy) -> None:
    busy.keys.send_text("half\x03")
    await until(lambda: busy.console.interrupted)
    busy.keys.send_text(" a line\r")
    assert text_of(await busy.following) == "half a line"


async def test_leaving_waits_for_the_end_of_the_turn(busy) -> None:
    busy.keys.send_text("/exit\r")
    await until(lambda: "/exit" in busy.seen)
    assert not busy.following.done()
    await busy.cli.show("main", ENDED)
    with pytest.raises(StopAsyncIteration):
        await busy.following
