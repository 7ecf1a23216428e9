"""What is kept of an output that may never end."""

import pytest

from hermes_backend_kit.output import Capture, Unread


def test_head_and_tail_are_kept_and_what_was_left_out_is_told():
    capture = Capture(1_000)
    for piece in (b"first\n", *[b"x" * 100] * 100, b"\nlast"):
        capture.take(piece)
    kept = capture.joined()
    assert capture.truncated
    assert len(kept) <= 1_000
    assert kept.startswith(b"first\nx")
    assert kept.endswith(b"x\nlast")
    assert b"bytes left out" in kept


def test_what_fits_is_whole():
    capture = Capture(11)
    capture.take(b"hello ")
    capture.take(b"world")
    result = capture.result(3)
    assert (result.status, result.output, result.truncated) == (3, b"hello world", False)


def test_of_a_capture_only_what_was_taken_is_heard():
    heard: list[bytes] = []
    capture = Capture(100, heard.append)
    capture.take(b"said")
    capture.add(b" and noted")
    assert (heard, capture.joined()) == ([b"said"], b"said and noted")


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_the_smallest_limits_hold(limit):
    capture = Capture(limit)
    for byte in range(50):
        capture.take(bytes([byte]))
    assert len(capture.joined()) == limit
    assert capture.truncated


def test_nothing_is_read_twice():
    unread = Unread(100)
    assert not unread
    unread.take(b"one ")
    unread.take(b"two")
    assert unread
    assert unread.read() == b"one two"
    assert unread.read() == b""
    assert not unread


def test_of_what_nobody_reads_the_oldest_goes_first_and_is_counted():
    heard: list[bytes] = []
    unread = Unread(10, heard.append)
    for piece in (b"aaaa", b"bbbb", b"cccc", b"d" * 30):
        unread.take(piece)
    assert unread.read() == b"[... 12 bytes left out ...]\n" + b"d" * 30
    assert unread.read() == b""
    assert len(heard) == 4
