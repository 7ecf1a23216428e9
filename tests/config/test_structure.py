"""The quick way and the thorough way into a class agree, and the thorough one speaks plainly."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hermes_core.config.check import check
from hermes_core.config.settings import structure
from hermes_core.options import Secret, ge, in_, le, matches_re, max_len, min_len, option, settings
from hermes_shapes.build import Refused, build


@settings
class Inner:
    """Inside."""

    n: int = option("A number.", default=0, validator=ge(0))
    s: Secret = option("A secret.", default=Secret(""))


@settings
class Outer:
    """Everything a class may hold."""

    f: float = option("A number.", default=0.0, validator=le(2))
    t: str = option("Text.", default="", validator=[max_len(3), matches_re("[a-z]*")])
    b: bool = option("Truth.", default=False)
    choice: Literal["on", "off", 1] = option("A choice.", default="on")
    maybe: int | None = option("Perhaps.", default=None)
    names: list[str] = option("Names.", factory=list, validator=min_len(0))
    table: dict[str, Inner] = option("Many.", factory=dict)
    inner: Inner = option("One.", factory=Inner)
    word: str = option("One of.", default="x", validator=in_(["x", "a"]))


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([0.5, 3.5]),
    st.sampled_from(["", "a", "on", "A", "abcd"]),
)
INNER = st.dictionaries(st.sampled_from(["n", "s", "z"]), LEAVES, max_size=2)
ANY = st.one_of(LEAVES, st.lists(LEAVES, max_size=2), INNER, st.dictionaries(st.just("k"), INNER, max_size=1))
OUTER = st.dictionaries(st.sampled_from([*Outer.__annotations__, "unknown"]), ANY, max_size=3)


@hypothesis_settings(max_examples=400, deadline=None)
@given(OUTER)
@pytest.mark.long
def test_the_quick_way_accepts_exactly_what_the_thorough_way_accepts(data: dict) -> None:
    thorough, found = check(Outer, data, ())
    try:
        quick = build(Outer, data)
    except (Refused, ValueError, TypeError):
        quick = None
    assert quick == thorough
    assert (quick is None) == bool(found)
    assert all(problem.text and "object at" not in problem.text for problem in found)


def test_validators_speak_plainly() -> None:
    data = {"f": 3, "t": "ABCD", "word": "y", "inner": {"n": -1}}
    _, found = structure(Outer, data, "tools.x")
    assert [f"{problem.path}: {problem.text}" for problem in found] == [
        "tools.x.f: must be at most 2, not 3.0",
        "tools.x.t: must have at most 3 characters",
        "tools.x.inner.n: must be at least 0, not -1",
        "tools.x.word: must be one of x, a",
    ]
