"""Telling output from marks, whatever the output is and however it is cut into pieces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_docker.marks import Marks

TOKEN = "0123456789abcdef0123456789abcdef"


def mark(words: bytes) -> bytes:
    return b"\x1e" + TOKEN.encode() + b"\x1e" + words + b"\n"


# Bytes that look like the beginnings of marks are the ones that could be lost.
tricky = st.lists(st.sampled_from([b"\x1e", TOKEN.encode(), TOKEN[:7].encode(), b"\x1e0", b"end 0 0\n", b"\n"])).map(
    b"".join
)
output = st.one_of(st.binary(max_size=300), tricky).filter(lambda data: b"\x1e" + TOKEN.encode() + b"\x1e" not in data)


@given(
    output=output,
    state=output,
    status=st.integers(0, 255),
    killed=st.integers(0, 9),
    cuts=st.lists(st.integers(0, 900)),
    after=st.binary(max_size=40),
)
def test_output_comes_through_whole_and_nothing_else(output, state, status, killed, cuts, after):
    known = b"\x1e" + TOKEN.encode()
    if any((text + known).count(known + b"\x1e") for text in (output, state)):  # nobody else knows the token
        return
    stream = mark(b"start") + output + mark(b"end %d %d" % (status, killed)) + state + mark(b"eof") + after
    seen = bytearray()
    marks = Marks(TOKEN, seen.extend)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    for start, end in pairwise(places):
        marks.feed(stream[start:end])
    assert bytes(seen) == output
    assert (marks.status, marks.killed, marks.state, marks.complete) == (status, killed, state, True)


@given(stream=st.one_of(st.binary(max_size=400), tricky))
def test_anything_may_come_and_nothing_breaks(stream):
    marks = Marks(TOKEN, lambda _: None)
    for at in range(len(stream)):
        marks.feed(stream[at : at + 1])
    assert marks.status is None


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
