"""Rows are printed for people and for programs, and nothing is lost on a yes that nobody said."""

import json

import click
import pytest
from click.testing import CliRunner

from hermes_tables.tables import Unasked, ago, confirm, emit, harmless, visible

ROWS = [{"id": "a", "title": "한글", "more": 1}, {"id": "bcd", "title": "x  y\nz", "more": 2}]


def test_columns_stand_below_their_heads_also_of_wide_letters(capsys: pytest.CaptureFixture[str]) -> None:
    emit([*ROWS, {"id": "e", "title": "v"}], ("title", "id"), as_json=False, empty="Nothing.")
    shown = capsys.readouterr().out.splitlines()
    assert [line.split() for line in shown] == [["title", "id"], ["한글", "a"], ["x", "y", "z", "bcd"], ["v", "e"]]
    assert [shown[at].index(word) for at, word in enumerate(["id", "a", "bcd", "e"])] == [7, 5, 7, 7]


def test_a_program_gets_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    emit(ROWS, ("id",), as_json=True, empty="Nothing.")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS
    emit([], ("id",), as_json=True, empty="Nothing.")
    assert capsys.readouterr() == ("", "")


def test_a_person_is_told_that_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    emit([], ("id",), as_json=False, empty="Nothing.")
    assert capsys.readouterr() == ("", "Nothing.\n")


def test_nobody_there_is_a_no() -> None:
    @click.command()
    def lose() -> None:
        confirm("Lose it?", yes=False)

    done = CliRunner().invoke(lose)
    assert (done.exit_code, done.output) == (
        2,
        "Lose it? Nobody is here to ask.\nDecide it yourself, then say --yes.\n",
    )
    with pytest.raises(Unasked, match="never here"):
        confirm("Lose it?", yes=False, refusal="never here")
    confirm("Lose it?", yes=True)


def test_text_of_others_moves_nothing() -> None:
    assert visible("a\x1b[2Jb\u202e\nc") == "a\\x1b[2Jb\\u202e\nc"


def test_what_a_row_holds_drives_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    emit([{"id": "a\x1b]0;b\x07\x9bc\u202e👨\u200d👩"}], ("id",), as_json=False, empty="Nothing.")
    assert capsys.readouterr().out.splitlines()[1] == "a\\x1b]0;b\\x07\\x9bc\\u202e👨\u200d👩"
    assert harmless("one\n\ttwo") == "one\n\ttwo"


@pytest.mark.parametrize(
    ("seconds", "said"), [(5, "just now"), (61, "1 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")]
)
def test_how_long_ago_it_was(seconds: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    assert ago(1_000_000.0 - seconds) == said
