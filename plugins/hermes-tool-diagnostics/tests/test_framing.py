"""Messages come out of a stream as they went in, however it was cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_diagnostics.framing import Broken, Frames, framed

_MESSAGES = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=20) | st.integers(), max_size=3), max_size=5)


@given(_MESSAGES, st.lists(st.integers(0, 400), max_size=10))
def test_what_is_sent_is_read_however_it_is_cut(messages: list[dict[str, object]], cuts: list[int]) -> None:
    stream, frames = b"".join(map(framed, messages)), Frames()
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    found = [one for a, b in itertools.pairwise(places) for one in frames.feed(stream[a:b])]
    assert found == messages


@pytest.mark.parametrize("data", [b"x" * 20_000, b"Hello: 1\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n",
    b"Content-Length: 3\r\n\r\n{{{"])  # fmt: skip
def test_what_does_not_speak_the_protocol_is_told(data: bytes) -> None:
    with pytest.raises(Broken):
        list(Frames().feed(data))


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_that(data: bytes) -> None:
    try:
        assert all(isinstance(one, dict) for one in Frames().feed(data))
    except Broken as error:
        assert str(error)  # noqa: PT017
