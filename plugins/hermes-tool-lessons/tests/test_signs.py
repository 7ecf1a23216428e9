"""How a turn went is read from a person's words, exit codes and what was done; what calls for a lesson from words."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import Message, Text, ToolCall, ToolResult
from hermes_tool_lessons.chances import Rates, estimate, helps, tried_share, verdict
from hermes_tool_lessons.matching import Index, alike, words_of
from hermes_tool_lessons.signs import followed, judged, said_by_person, seen
from hermes_tool_lessons.values import Lesson


def said(text, role="user", **more):
    return Message(role=role, parts=(Text(text=text),), **more)


def ran(command, output, failed=False, call="c1"):
    return (
        Message(role="assistant", parts=(ToolCall(id=call, name="terminal", arguments={"command": command}),)),
        Message(role="tool", parts=(
            ToolResult(call_id=call, name="terminal", parts=(Text(text=output),), failed=failed),)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("No, use ISO dates.", False),
        ("That's not what I meant", False),
        ("You forgot the header", False),
        ("아니야, 다시 해 줘", False),
        ("不对，重新来", False),
        ("違います", False),
        ("nein, so nicht", False),
        ("Perfect, thanks!", True),
        ("고마워", True),
        ("很好，谢谢", True),
        ("ありがとう", True),
        ("danke, passt", True),
        ("Now deploy the other one.", None),
        ("What is the weather?", None),
        ("Nothing else matters", None),
        ("No problem, now the next", None),
        ("I asked Ben about it", None),
        ("The login page does not work", None),
        ("It still does not work", False),
        ("I told you to use ISO", False),
        ("That is not right", False),
        ("Thanks, but that is not right: it's wrong", False),
    ],
)
def test_a_person_says_how_it_was(text, good) -> None:
    assert judged(text) is good


def test_what_no_person_wrote_is_no_judgement() -> None:
    assert said_by_person(said("No, wrong.", untrusted=True)) == ""
    assert said_by_person(Message(role="user", parts=(Text(text="No, wrong.", quotes="the goal"),))) == ""
    assert said_by_person(said("No, wrong.", meta={"hermes": {"x": 1}})) == ""
    assert said_by_person(said("No, wrong.", role="assistant")) == ""


def test_the_last_test_counts_and_one_that_was_mended_is_a_sign() -> None:
    rows = [said("Fix it."), *ran("pytest -q", "1 failed\nexit 1"), *ran("pytest -q", "1 passed", call="c2")]
    did = seen(rows)
    assert (did.check, did.mended, did.failed, did.retries, did.calls) == (True, True, 1, 1, 2)
    did = seen([said("Look."), *ran("pytest", "ok"), *ran("npm test", "bad\nexit 2 (x)", call="c2")])
    assert (did.check, did.mended) == (False, False)
    assert seen([said("Look."), *ran("ls", "exit 1")]).check is None, "no test ran"
    assert seen([said("Look."), *ran("pytest", "refused", failed=True)]).check is None, "it did not run"


@pytest.mark.parametrize(
    ("lesson", "acts", "did"),
    [
        ("Use `--iso` for dates.", '{"command": "deploy --iso"}', True),
        ("Use `--iso` for dates.", "deploy", False),
        ("Use --zone=ab12 there", "x --zone=ab12", True),
        ("Answer in Korean.", "whatever", None),
        ("The field is `a b`", '{"x": "a\\nb"}', True),
    ],
)
def test_it_is_seen_whether_a_lesson_was_followed(lesson, acts, did) -> None:
    assert followed(lesson, acts) is did


def about(recent, offered=0, **more):
    return Lesson(id="x", profile="", person="", trigger="t", text="x", state="trial", recent=recent,
                  uses=len(recent), wins=recent.count("1"), offered=offered or len(recent), **more)  # fmt: skip


def test_where_nothing_is_known_four_bad_ends_are_the_fewest_that_retire_and_five_good_the_fewest_that_prove() -> None:
    nothing = Rates()
    assert [verdict(about("0" * n), nothing) for n in range(5)] == ["", "", "", "", "harms"]
    assert [verdict(about("1" * n), nothing) for n in range(6)] == ["", "", "", "", "", "helps"]
    assert verdict(about("", 6), nothing) == "idle"
    assert verdict(about("", 5), nothing) == ""


def test_what_goes_as_well_without_a_lesson_proves_nothing_for_it() -> None:
    easy = Rates(held=200, won=190)
    assert verdict(about("1" * 20), easy) == ""
    assert verdict(about("1" * 20, held=40, held_won=2), Rates(held=60, won=20)) == "helps"
    assert helps(about("0110100110" * 2), Rates(held=200, won=100)) < 0.05


def test_where_ends_have_nothing_to_do_with_lessons_hardly_any_is_tried() -> None:
    dice = random.Random(3)
    by_chance = [about("".join(dice.choice("01") for _ in range(12))) for _ in range(300)]
    rates = estimate(by_chance, Rates(held=400, won=200), 3600)
    assert rates.once < 0.02
    shares = [tried_share([helps(one, rates)], rates) for one in by_chance]
    assert sum(shares) / len(shares) < 0.5
    real = estimate([about("1" * 9) if n % 5 == 0 else about("0" * 4) for n in range(300)], Rates(held=400, won=8), 900)
    assert 0.15 < real.once < 0.25
    assert tried_share([real.once], real) == 0.9


@given(st.text("01", max_size=40), st.integers(0, 99), st.integers(0, 99))
def test_a_win_never_makes_it_less_likely_that_a_lesson_helps(recent, held, won) -> None:
    rates = Rates(held=held + won, won=won)
    now = helps(about(recent), rates)
    assert 0 <= now <= 1
    assert helps(about(f"{recent}1"), rates) >= now >= helps(about(f"{recent}0"), rates)


def test_a_trigger_is_found_in_other_forms_of_its_words_and_in_languages() -> None:
    index = Index()
    for name, trigger in (("a", "stratus deploy"), ("b", "결제 배포"), ("c", "部署服务"), ("d", "buy tickets")):
        index.put(name, trigger, "person", "")
    calls = {
        "We are deploying to Stratus": ["a"],
        "결제 서버를 배포해 줘": ["b"],
        "请部署服务": ["c"],
        "I bought a ticket": ["d"],
        "nothing of that": [],
    }
    assert {said: [one.id for one in index.called(said)] for said in calls} == calls


@given(st.lists(st.tuples(st.text("ab cd", max_size=8), st.booleans()), max_size=30), st.text("abcd ", max_size=20))
def test_the_index_knows_what_was_put_and_not_dropped(steps, question) -> None:
    index, there = Index(), {}
    for number, (trigger, drop) in enumerate(steps):
        name = str(number % 7)
        if drop:
            index.drop(name)
            there.pop(name, None)
        else:
            index.put(name, trigger, "person", "")
            there[name] = trigger
    assert len(index) == len(there)
    asked = words_of(question)
    for one in index.called(question):
        assert one.id in there
        assert not words_of(there[one.id]) or words_of(there[one.id]) & asked
    whole = {name for name, trigger in there.items() if words_of(trigger) and words_of(trigger) <= asked}
    assert whole <= {one.id for one in index.called(question)}


def test_triggers_are_alike_where_most_of_their_words_are() -> None:
    assert alike(words_of("stratus deploy"), words_of("deploying stratus builds"))
    assert not alike(words_of("stratus deploy"), words_of("stratus export"))
    assert not alike(words_of(""), words_of(""))
