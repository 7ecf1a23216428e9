"""Known values in texts: in which forms they are found, and that what is learned later is found from then on."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_known.forms import Forms
from hermes_known.known import Known
from hermes_known.places import in_base64, places

KEY = "kq7Zp2/w9Rt4+m6Vb1Nc"


def test_it_is_found_as_it_is_encoded_and_escaped() -> None:
    known = Known([KEY])
    for text in (KEY, "kq7Zp2%2Fw9Rt4%2Bm6Vb1Nc", "kq7Zp2%2fw9Rt4%2bm6Vb1Nc"):
        assert [span[:2] for span in known.spans(f"a={text}&b")] == [(2, 2 + len(text))]


def test_what_is_learned_later_is_found_from_then_on() -> None:
    learned: list[str] = []
    known = Known((), learned)
    assert not known
    assert known.spans(KEY) == []
    learned.append(KEY)
    assert [span[:2] for span in known.spans(KEY)] == [(0, len(KEY))]
    assert known


@given(st.binary(min_size=6, max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_a_value_is_found_in_any_base64_that_holds_it(data: bytes, before: bytes, after: bytes) -> None:
    import base64

    coded = base64.b64encode(before + data + after).decode()
    assert any(part in coded for part in in_base64(data))


@given(st.text(alphabet="ab", min_size=1, max_size=3), st.text(alphabet="ab", max_size=30))
def test_places_do_not_overlap_and_are_all(needle: str, text: str) -> None:
    found = list(places(needle, text))
    assert all(text[begin:end] == needle for begin, end, _ in found)
    assert len(found) == text.count(needle)


def test_forms_finds_it_turned_round_and_spaced_out() -> None:
    forms = Forms([KEY])
    assert forms.spans(KEY[::-1])
    assert forms.spans(" ".join(KEY))
    assert not forms.spans("nothing of it is here")
