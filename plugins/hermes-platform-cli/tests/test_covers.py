"""A question says what a lasting yes would cover, where one is offered."""

import pytest

from hermes_core.types import Question, Verdict
from hermes_platform_kit.asking import choice_of, lines_of, outcome_line, verdict_of

WORDS = "`git push` in /work/p"


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        (("once", "session", "always", "deny"), f"session and always would allow: {WORDS}"),
        (("once", "session", "deny"), f"session would allow: {WORDS}"),
        (("once", "deny"), ""),
    ],
)
def test_what_a_lasting_yes_covers_is_shown(choices, shown) -> None:
    lines = lines_of(Question(id="q", kind="approval", subject="terminal(git push)", choices=choices, covers=WORDS))
    assert [line for line in lines if "would allow" in line] == ([shown] if shown else [])
    assert lines[:2] == ["May this run?", "  terminal(git push)"]


def test_nothing_in_it_is_hidden() -> None:
    [line] = [x for x in lines_of(Question(id="q", kind="approval", subject="x", covers="a\x1b[8mb")) if "allow" in x]
    assert "\x1b" not in line


@pytest.mark.parametrize("typed", ["i use pnpm", "I  use pnpm ", "instead use pnpm"])
def test_a_no_says_what_to_do_instead(typed: str) -> None:
    question = Question(id="q", kind="approval", subject="$ npm install")
    verdict = verdict_of(question, choice_of(question, typed), "ann")
    assert verdict == Verdict.refused("ann", "use pnpm")
    assert outcome_line(question, verdict) == "Refused; instead: use pnpm"
    assert "(i) no, and do this instead" in lines_of(question)[-1]


def test_where_a_choice_is_asked_for_words_are_no_refusal() -> None:
    assert choice_of(Question(id="q", kind="choice", subject="Which?", choices=("a", "b")), "i want c") is None
