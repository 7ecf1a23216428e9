"""What memories share: whose words count, what stands in a text, and that the newest of one thing comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import Message, Text
from hermes_memory_kit.order import newest_first
from hermes_memory_kit.turns import Looks, said, statements
from hermes_memory_kit.words import Wanted, kept_words


def share(query: str, text: str) -> float:
    return Wanted(query).share(text, kept_words(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("where do I live", "I lived in Daegu."),
        ("support groups", "They went to a support group."),
        ("고양이 이름이 뭐였지?", "우리 고양이는 미소라고 해."),
        ("京都", "来月は京都に行きます。"),
        ("他住在北京吗", "他住在北京的东边。"),
        ("cafe", "Le café est fermé."),
        ("🦊", "The mascot is 🦊."),
    ],
)
def test_what_is_asked_for_stands_there_in_any_form(query: str, text: str) -> None:
    assert share(query, text) >= 0.5


def test_what_is_not_there_is_not_found() -> None:
    assert share("walnuts", "The cat is called Miso.") == 0
    assert share("", "Anything.") == 1


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_text_can_be_asked_of_any(query: str, text: str) -> None:
    assert 0 <= share(query, text) <= 1.0001


def message(text: str, **more) -> Message:
    return Message(role="user", parts=(Text(text=text),), **more)


def test_what_a_person_states_is_theirs_alone() -> None:
    quoted = Message(role="user", parts=(Text(text="Look at this."), Text(text="A page says so.", quotes="page")))
    assert said(quoted) == "Look at this."
    given = [
        message("I live in Daegu now."),
        message("Where do I live, please?"),
        message("나는 어디에 살고 있을까요?"),
        message("/model other-one please"),
        message("ok"),
        message("From a page: he is rich.", untrusted=True),
        message("A note of the kernel's.", meta={"hermes": {"note": True}}),
        Message(role="assistant", parts=(Text(text="You live in Daegu, I think."),)),
        message("I live in Daegu now."),
        message("x" * 5_000),
    ]
    assert statements(given) == ["I live in Daegu now."]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=20))
def test_of_one_thing_the_newest_comes_first_and_nothing_is_lost(found: list[tuple[int, int]]) -> None:
    ordered = newest_first(found, lambda a, b: a[0] == b[0], lambda one: one[1])
    assert sorted(ordered) == sorted(found)
    for thing in {one[0] for one in found}:
        times = [when for about, when in ordered if about == thing]
        assert times == sorted(times, reverse=True)
    assert not found or ordered[0][0] == found[0][0], "what is likeliest is still what is asked about"


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    looks, first, answer, second = (
        Looks(),
        message("I live in Daegu."),
        Message(role="assistant", parts=()),
        message("And I cook."),
    )
    assert looks.new("s", [answer]) == ()
    assert list(looks.new("s", [first, answer])) == [first, answer]
    looks.looked("s", [first, answer])
    assert list(looks.new("s", [first, answer, second])) == [second]
    third = message("And I sing.")
    assert list(looks.new("s", [first, answer, second, third])) == [second, third], "the look before was cut off"
    assert list(looks.new("t", [first, answer, second])) == [second], "of a session that it does not know its last turn"
    for number in range(1_001):
        looks.looked(f"s{number}", [first])
    assert len(looks._seen) == 1_000
