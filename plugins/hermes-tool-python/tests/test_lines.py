"""Messages in short lines: whole whatever the pieces they come in, and no foreign byte breaks them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_python.lines import LARGEST, LINE, Lines, Unreadable

values = st.dictionaries(st.text(max_size=9), st.text(max_size=90) | st.integers() | st.none(), max_size=4)


def written(who, message, size=40):
    """A message as the two processes write it: ``say`` of both, without a pipe."""
    text = json.dumps(message)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [f"{who}{'.' if n == len(pieces) - 1 else '+'}{piece}\n".encode() for n, piece in enumerate(pieces)]


@given(st.lists(st.tuples(st.sampled_from("pw"), values), max_size=6), st.data())
def test_messages_of_two_writers_come_whole(messages, data):
    queues = {who: [line for name, one in messages if name == who for line in written(who, one)] for who in "pw"}
    stream = b""
    while any(queues.values()):
        who = data.draw(st.sampled_from([name for name, lines in queues.items() if lines]))
        stream += queues[who].pop(0)
    lines, found, at = Lines(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, 200))
        found += lines.feed(stream[at : at + size])
        at += size
    for who in "pw":
        assert [one for name, one in found if name == who] == [one for name, one in messages if name == who]
    assert not lines.noise


@given(st.binary(max_size=20_000))
def test_any_bytes_end_in_messages_or_in_a_word(data):
    lines = Lines()
    try:
        for who, message in lines.feed(data):
            assert who in "pw"
            assert isinstance(message, dict)
    except Unreadable:
        pass
    assert len(lines.noise) <= 16_000


def test_much_noise_and_messages_without_an_end_are_refused():
    with pytest.raises(Unreadable):
        [*Lines().feed(b"x" * 10_000)]
    lines = Lines()
    with pytest.raises(Unreadable, match="without an end"):
        [*lines.feed((b"p+" + b"1" * 4_000 + b"\n") * (LARGEST // LINE + 2_000))]
