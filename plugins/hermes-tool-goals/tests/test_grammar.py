"""What a person writes behind /goal and /loop is read as it was meant, or refused in words."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_tool_goals.grammar import Wanted, parse, parse_loop, period, shown_period, written
from hermes_tool_goals.values import Check, Goal

LINE = st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="|"), min_size=1, max_size=60)
WORDS = LINE.map(str.strip).filter(lambda text: text and ":" not in text)
COMMAND = LINE.map(str.strip).filter(bool)
CHECKS = st.lists(st.builds(Check, kind=st.sampled_from(["command", "file", "ask"]), what=COMMAND), max_size=12)


def goal(**values):
    return Goal(id="1", profile="default", person="owner", session="s", **values)


@given(text=WORDS, checks=CHECKS, turns=st.integers(1, 1000), seconds=st.integers(0, 900_000),
       money=st.integers(0, 9999))  # fmt: skip
def test_a_goal_that_is_written_is_read_as_it_was(text, checks, turns, seconds, money):
    checks = tuple(dict.fromkeys(checks))
    one = goal(text=text, checks=checks, turns=turns, seconds=float(seconds), money=money / 100)
    found = parse(written(one))
    assert (found.text, found.checks, found.turns) == (text, checks, turns)
    assert found.seconds == (seconds or None)
    assert found.money == ((money / 100) or None)


@given(text=WORDS.filter(lambda text: "until" not in text.casefold()), seconds=st.integers(10, 7 * 86_400))
def test_a_loop_that_is_written_is_read_as_it_was(text, seconds):
    wrote = written(goal(text=f"look at {text}", interval=float(seconds)))
    assert parse_loop(wrote) == Wanted(text=f"look at {text}", interval=float(seconds), turns=20)


@given(st.integers(1, 10_000_000))
def test_a_time_that_is_shown_is_read_as_it_was(seconds):
    assert period(shown_period(seconds)) == seconds


@given(st.text(max_size=200))
def test_whatever_is_written_is_read_or_refused_in_words(text):
    for read in (parse, parse_loop):
        with suppress(UserError):
            found = read(text)
            assert len(found.checks) <= 12
            assert found.text == found.text.strip()


@pytest.mark.parametrize(
    ("line", "seconds", "text", "until"),
    [
        ("10m check the build until it is green", 600, "check the build until it is green", "it is green"),
        ("every 1h30m look", 5400, "look", ""),
        ("1h 30m look", 5400, "look", ""),
        ("30 seconds wait until noon until 3 pm", 30, "wait until noon until 3 pm", "3 pm"),
        ("2 minutes look", 120, "look", ""),
    ],
)
def test_a_loop_says_how_often_and_until_when(line, seconds, text, until):
    found = parse_loop(line)
    assert (found.interval, found.text, found.until) == (seconds, text, until)


@pytest.mark.parametrize(
    "line", ["", "look", "10m", "5s look", "8d look", "10x look", "m10 look", "10 look", "0s look", "10mlook at it"]
)
def test_a_loop_without_a_time_or_words_is_refused(line):
    with pytest.raises(UserError):
        parse_loop(line)


def test_a_bar_in_a_command_stays_in_it():
    found = parse("Make it | check: make 2>&1 | tail -1 | grep -q ok | turns: 3\nfile: a|b\nask: Is it: good?")
    assert found.checks == (
        Check(kind="command", what="make 2>&1 | tail -1 | grep -q ok"),
        Check(kind="file", what="a|b"),
        Check(kind="ask", what="Is it: good?"),
    )
    assert found.turns == 3


WRONG = (
    "turns: 0",
    "turns: many",
    "turns: 1001",
    "money: -1",
    "money: nan",
    "time: soon",
    "check:",
    "check: " + 999 * "yyy",
)


@pytest.mark.parametrize("line", [*(f"x | {one}" for one in WRONG), "x" * 8001])
def test_what_cannot_be_meant_is_refused(line):
    with pytest.raises(UserError):
        parse(line)
