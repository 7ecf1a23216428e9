"""Telling output from marks, whatever the output is and however it is cut into pieces."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes_backend_docker.marks import Marks
from hermes_core.testing import Steps

TOKEN = "0123456789abcdef0123456789abcdef"


def mark(words: bytes) -> bytes:
    return b"\x1e" + TOKEN.encode() + b"\x1e" + words + b"\n"


# Bytes that look like marks, or like the beginnings of some, are the ones that could be lost.
tricky = st.lists(
    st.sampled_from(
        [
            b"\x1e",
            TOKEN.encode(),
            TOKEN[:7].encode(),
            b"\x1e0",
            b"\x1e" + TOKEN.encode(),
            b"\x1e" + TOKEN.encode() + b"\x1e",
            b"end 0 0",
            b"end 1",
            b"end 256 0\n",
            b"start\n",
            b"9" * 90,
            b"\x1e" + TOKEN.encode() + b"\x1e" + b"9" * 90,
            b"\n",
        ]
    ),
    max_size=40,
).map(b"".join)
output = st.one_of(st.binary(max_size=300), tricky)
ours = re.compile(rb"\x1e%b\x1e\s*(nofolder|eof|end\s+\S+\s+\S+)\s*\n" % TOKEN.encode())


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(place for place in cuts if place < len(stream))})
    return [stream[start:end] for start, end in pairwise(places)]


@given(
    output=output,
    state=output,
    status=st.integers(0, 255),
    killed=st.integers(0, 9),
    cuts=st.lists(st.integers(0, 900)),
    after=st.binary(max_size=40),
)
def test_output_comes_through_whole_and_nothing_else(output, state, status, killed, cuts, after):
    assume(not ours.search(output) and not ours.search(state))  # only our shell's script says these
    stream = mark(b"start") + output + mark(b"end %d %d" % (status, killed)) + state + mark(b"eof") + after
    seen = bytearray()
    marks = Marks(TOKEN, seen.extend)
    for piece in cut(stream, cuts):
        marks.feed(piece)
    assert bytes(seen) == output
    assert (marks.status, marks.killed, marks.state, marks.complete) == (status, killed, state, True)


@given(begun=st.booleans(), stream=output, cuts=st.lists(st.integers(0, 900)), single=st.booleans())
def test_whatever_comes_is_read_in_few_steps_and_the_same_in_any_pieces(begun, stream, cuts, single):
    stream = mark(b"start") * begun + stream
    whole, told = bytearray(), bytearray()
    once, often = Marks(TOKEN, whole.extend), Marks(TOKEN, told.extend)
    pieces = [stream[at : at + 1] for at in range(len(stream))] if single else cut(stream, cuts)
    with Steps(len(stream), each=2, first=100):
        once.feed(stream)
    with Steps(len(stream), each=30, first=100):
        for piece in pieces:
            often.feed(piece)
    assert whole == told
    one, other = ((m.status, m.killed, m.no_folder, m.complete, m.state, m.complaint) for m in (once, often))
    assert one == other


@pytest.mark.parametrize(
    "words",
    [
        b"x" * 79 + b"\n",
        b"x" * 80,
        b"x" * 80 + b"\n",
        b"end 0 " + b"0" * 74 + b"\n",
        b"end " + b"1" * 5_000 + b" 0\n",
        b"something else\n",
        b"end 0\n",
        b"end 256 0\n",
        b"\n",
    ],
    ids=lambda words: repr(words[:20]),
)
def test_a_mark_that_says_what_ours_never_say_is_output(words):
    seen = bytearray()
    marks = Marks(TOKEN, seen.extend)
    printed = mark(words)[:-1] + b"and more"
    with Steps(len(printed), each=2, first=200):
        marks.feed(mark(b"start") + printed)
        marks.feed(mark(b"end 7 0"))
    assert (bytes(seen), marks.status) == (printed, 7)


def test_output_is_handed_on_while_it_comes():
    seen = []
    marks = Marks(TOKEN, seen.append)
    marks.feed(mark(b"start") + b"one")
    marks.feed(b"two")
    assert seen == [b"one", b"two"]


def test_what_comes_instead_of_a_start_is_the_reason():
    marks = Marks(TOKEN, lambda _: None)
    marks.feed(b"OCI runtime exec failed:\n no sh")
    marks.complain(b" here")
    assert not marks.started
    assert marks.complaint == "OCI runtime exec failed: no sh here"


def test_a_folder_that_is_not_there_ends_it():
    marks = Marks(TOKEN, lambda _: None)
    marks.feed(mark(b"start") + mark(b"nofolder"))
    assert (marks.no_folder, marks.complete, marks.status) == (True, True, None)
