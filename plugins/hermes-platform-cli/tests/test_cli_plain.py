"""A pipe instead of a person: lines in, answers on stdout, all else on stderr, no control codes."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import pytest

from hermes_core.testing import FakeConsole
from hermes_core.types import (
    Called,
    Chat,
    Ended,
    Event,
    Failed,
    Message,
    Question,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from hermes_platform_cli.config import Config
from hermes_platform_cli.platform import Cli
from hermes_platform_cli.streams import Streams

CALL = ToolCall(id="c", name="terminal", arguments={"command": "ls"})


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def turn(*events: Event, answer: str = "", reason: Any = "done") -> Sequence[Event]:
    return (
        Started(session_id="s", turn_id="t", provider="p", model="m"),
        *events,
        Ended(session_id="s", turn_id="t", answer=answer, reason=reason, usage=Usage()),
    )


async def converse(
    stdin: TextIO,
    *turns: Sequence[Event],
    out: TextIO | None = None,
    data: Path = Path(),
    environ: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, str, list[str]]:
    out, err = out or StringIO(), StringIO()
    cli = Cli(Config(), data, streams=Streams(stdin=stdin, stdout=out, stderr=err, environ=environ))
    asked: list[str] = []
    await cli.open(FakeConsole())
    left = list(turns)
    async for envelope in cli.receive():
        part = envelope.message.parts[0]
        assert isinstance(part, Text)
        asked.append(part.text)
        await cli.ack(envelope)
        if part.text.startswith("/"):
            await cli.send(Chat("main"), Message(role="assistant", parts=[Text(text=f"ran {part.text}")]), "k")
            continue
        for event in left.pop(0):
            await cli.show("main", event)
    await cli.close()
    return ("" if isinstance(out, TextIO) and out.closed else out.getvalue()), err.getvalue(), asked  # type: ignore[attr-defined]


async def test_answers_go_to_stdout_and_the_rest_to_stderr() -> None:
    events = turn(
        Thinking(text="hm"),
        Said(text="Let me look."),
        Called(call=CALL),
        Returned(call=CALL, result=ToolResult(call_id="c", name="terminal", parts=[Text(text="a\nb")]), seconds=0.2),
        Said(text="It is "),
        Said(text="empty."),
    )
    out, err, _ = await converse(StringIO("hi\n/exit\nnever\n"), events)
    assert out == "It is empty.\n"
    assert err == "Let me look.\nterminal  ls  ok  0.2s\n  a\n  b\n"


async def test_a_line_is_a_message_and_empty_ones_are_none() -> None:
    said = turn(Said(text="ok"))
    _, _, asked = await converse(StringIO("one\n\n  \ntwo"), said, said)
    assert asked == ["one", "two"]


@pytest.mark.parametrize("word", ["/exit", "/quit", " /exit "])
async def test_leaving_ends_it(word: str) -> None:
    assert await converse(StringIO(f"{word}\nmore\n")) == ("", "", [])


async def test_the_result_of_a_command_is_an_answer() -> None:
    out, err, _ = await converse(StringIO("/help\n"))
    assert (out, err) == ("ran /help\n", "")


async def test_a_notice_is_none(tmp_path: Path) -> None:
    out, err = StringIO(), StringIO()
    cli = Cli(Config(), tmp_path, streams=Streams(stdin=StringIO(), stdout=out, stderr=err, environ={}))
    await cli.open(FakeConsole())
    await cli.send(Chat("main"), Message(role="assistant", parts=[Text(text="\x1b[2Jby the way")]), "k")
    await cli.close()
    assert (out.getvalue(), err.getvalue()) == ("", "by the way\n")


async def test_an_answer_that_was_not_streamed_is_written() -> None:
    out, _, _ = await converse(StringIO("hi\n"), turn(answer="whole"))
    assert out == "whole\n"


async def test_a_failure_says_what_and_what_now() -> None:
    out, err, _ = await converse(
        StringIO("hi\n"), turn(Failed(kind="auth_error", text="No key.", hint="Set one."), reason="failed")
    )
    assert (out, err) == ("", "Error: No key.\nSet one.\n")


async def test_no_control_code_gets_through() -> None:
    events = turn(Said(text="a\x1b[3"), Said(text="1mb\x1b]0;x\x07"), Said(text="\u202ec\x9b2J"))
    out, _, _ = await converse(StringIO("hi\n"), events)
    assert out == "abc\n"


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {}])
async def test_a_terminal_that_wants_no_codes_gets_none(environ: dict[str, str]) -> None:
    screen = Terminal()
    events = turn(Said(text="Hel"), Said(text="lo."), Called(call=CALL), Said(text="**b**"))
    await converse(Terminal("hi\n"), events, out=screen, environ=environ)
    assert screen.getvalue() == "Hello.\n**b**\n"


async def test_a_question_over_a_pipe_has_nobody_to_answer_it(tmp_path: Path) -> None:
    streams = Streams(stdin=StringIO("once\n"), stdout=StringIO(), stderr=StringIO(), environ={})
    cli = Cli(Config(), tmp_path, streams=streams)
    await cli.open(FakeConsole())
    assert await cli.ask("main", Question(id="q", kind="approval", subject="rm")) is None
    await cli.close()


@pytest.mark.parametrize(
    ("typed", "outcome", "choice"),
    [("1\n", "allow", "once"), ("S\n", "allow", "session"), ("x\ndeny\n", "deny", "deny"), ("", "deny", "deny")],
)
async def test_a_person_without_colors_can_answer(typed: str, outcome: str, choice: str, tmp_path: Path) -> None:
    err = Terminal()
    cli = Cli(Config(), tmp_path, streams=Streams(stdin=Terminal(typed), stdout=Terminal(), stderr=err, environ={}))
    await cli.open(FakeConsole())
    verdict = await cli.ask("main", Question(id="q", kind="approval", subject="rm \u202e-rf", risk="loss"))
    await cli.close()
    assert verdict is not None
    assert (verdict.outcome, verdict.choice) == (outcome, choice)
    assert "rm \\u202e-rf" in err.getvalue()
    assert "Risk: loss" in err.getvalue()


@pytest.mark.parametrize(
    ("typed", "choice"),
    [("b\n1\n", "2"), ("2\n", "1"), ("blue\n", "blue"), ("12\n", "dark"), ("", "deny")],
)
async def test_a_number_means_what_the_list_says(typed: str, choice: str, tmp_path: Path) -> None:
    err = Terminal()
    cli = Cli(Config(), tmp_path, streams=Streams(stdin=Terminal(typed), stdout=Terminal(), stderr=err, environ={}))
    await cli.open(FakeConsole())
    choices = ["2", "1", "blue", *"defghijk", "dark"]
    verdict = await cli.ask("main", Question(id="q", kind="choice", subject="How many?", choices=choices))
    await cli.close()
    assert verdict is not None
    assert verdict.choice == choice
    assert ("A number from 1 to 12 chooses." in err.getvalue()) == typed.startswith("b\n")


async def test_nobody_reading_ends_it_quietly(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        cli = Cli(
            Config(), tmp_path, streams=Streams(stdin=StringIO("a\nb\n"), stdout=out, stderr=StringIO(), environ={})
        )
        await cli.open(FakeConsole())
        asked = []
        async for envelope in cli.receive():
            asked.append(envelope.event_id)
            await cli.ack(envelope)
            for event in turn(Said(text="x")):
                await cli.show("main", event)
        await cli.close()
    assert len(asked) == 1


async def test_a_file_as_input_and_a_poor_encoding_work(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes("안녕\r\n\xff last".encode("utf-8", "surrogateescape").replace(b"\xc3\xbf", b"\xff"))
    with (tmp_path / "in").open() as stdin, (tmp_path / "out").open("w", encoding="ascii") as out:
        cli = Cli(Config(), tmp_path, streams=Streams(stdin=stdin, stdout=out, stderr=StringIO(), environ={}))
        await cli.open(FakeConsole())
        texts = []
        async for envelope in cli.receive():
            texts.append(envelope.message.parts[0].text)  # type: ignore[union-attr]
            await cli.ack(envelope)
            for event in turn(Said(text="né")):
                await cli.show("main", event)
        await cli.close()
    assert texts == ["안녕", "\ufffd last"]
    assert (tmp_path / "out").read_text() == "n?\nn?\n"


async def test_a_message_that_comes_while_a_turn_runs_waits_for_its_end(tmp_path: Path) -> None:
    streams = Streams(stdin=StringIO("one\ntwo\n"), stdout=StringIO(), stderr=StringIO(), environ={})
    cli = Cli(Config(), tmp_path, streams=streams)
    await cli.open(FakeConsole())
    stream = cli.receive()
    first = await anext(stream)
    started, ended = turn(Said(text="x"))[0], turn()[-1]
    following = asyncio.ensure_future(anext(stream))
    await cli.ack(first)
    await cli.show("main", started)
    for _ in range(20):
        await asyncio.sleep(0)
    assert not following.done()
    await cli.show("main", ended)
    assert (await following).event_id != first.event_id
    await cli.close()
