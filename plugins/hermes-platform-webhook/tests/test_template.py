"""What of a payload is told. Nothing in it, or in the template, is more than text."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_platform_webhook.template import WHOLE, at, filled, places

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
PAYLOAD: dict[str, Any] = {
    "action": "opened",
    "number": 7,
    "draft": False,
    "body": None,
    "pull_request": {"title": "Mend {number}", "labels": [{"name": "bug"}]},
}


def test_places_stand_for_what_is_there() -> None:
    assert filled("#{number} {pull_request.title}", PAYLOAD) == "#7 Mend {number}"
    assert filled("{pull_request.labels.0.name} {draft}{body}{nothing.here}", PAYLOAD) == "bug false"
    assert filled("{pull_request.labels}", PAYLOAD) == '[{"name": "bug"}]'
    assert json.loads(filled("{__raw__}", PAYLOAD)) == PAYLOAD


def test_what_is_no_place_stays_as_it_is() -> None:
    assert (
        filled("{{number}} {} { number} {number!r} {a.__class__} {0}", PAYLOAD) == "{number} {} { number} {number!r}  "
    )
    assert filled("}} {", PAYLOAD) == "} {"


def test_names_lead_nowhere_but_into_the_payload() -> None:
    for place in (
        "__class__",
        "action.__class__.__mro__",
        "pull_request.labels.-1",
        "pull_request.labels.9",
        "action.0",
    ):
        assert at(PAYLOAD, place) is None


def test_what_is_told_is_bounded() -> None:
    long = {"a": "x" * 5_000, "b": ["y" * 5_000]}
    assert len(filled("{a}", long)) == 2_001
    assert len(filled("{__raw__}", long)) == 4_001
    assert len(filled("{a}" * 20, long)) == WHOLE + 1


@given(template=st.text(alphabet="ab.{}_0 raw\x00", max_size=40), payload=VALUES)
def test_any_template_and_any_payload_make_a_text(template: str, payload: Any) -> None:
    told = filled(template, payload)
    told.encode()
    assert "\x00" not in told
    assert len(told) <= WHOLE + 1
    for place in places(template):
        at(payload, place)


@given(payload=st.dictionaries(st.sampled_from("ab"), st.text(alphabet="{}ab_raw.", max_size=20), max_size=2))
def test_what_stands_in_a_payload_is_never_a_template(payload: Any) -> None:
    assert filled("<{a}|{b}>", payload) == f"<{payload.get('a', '')}|{payload.get('b', '')}>"
