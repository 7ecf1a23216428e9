"""What the events of a turn print on a terminal."""

import io
from typing import Any

import pytest

from hermes_core.types import Called, Failed, Noticed, Said, ToolCall
from hermes_platform_kit.answers import Answers

NASTY = "\x1b]0;owned\x07\x9b2Jwords"


class Terminal(io.StringIO):
    """A terminal, which does what it is told."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "event",
    [
        *(Said(text=NASTY), Noticed(text=NASTY), Failed(kind="failed", text=NASTY)),
        *(Called(call=ToolCall(id="1", name=NASTY, arguments={})),),
        Called(call=ToolCall(id="1", name="terminal", arguments={"command": NASTY})),
    ],
)
def test_nothing_that_a_model_says_drives_the_terminal(event: Any) -> None:
    out, err = Terminal(), Terminal()
    Answers(out, err).verbose(event)
    shown = out.getvalue() + err.getvalue()
    assert "words" in shown
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_a_note_is_below_what_was_said_so_far_where_both_are_on_one_terminal() -> None:
    for kind, shown in ((Terminal, "The train\n"), (io.StringIO, "The train")):
        out, err = kind(), kind()
        answers = Answers(out, err)
        answers.verbose(Said(text="The train"))
        answers.tell("(It is told.)")
        assert out.getvalue() == shown
        answers.tell("(And that.)")
        answers.verbose(Said(text=" leaves.\n"))
        answers.tell("(At last.)")
        assert out.getvalue() == f"{shown} leaves.\n"
