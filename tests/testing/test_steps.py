"""A count of lines ends what has no end, and says the same on every machine."""

import re
import sys
from contextlib import suppress

import pytest

from hermes_core.testing import Steps, TooManySteps


def endless(data):
    seen = 0
    while data:
        seen += 1


def looks_at_each_byte(data):
    seen = 0
    for byte in data:
        seen += byte


def looks_back_at_all(data):
    for at in range(len(data)):
        looks_at_each_byte(data[:at])


def made_by(work, data, **allowed):
    with Steps(len(data), **allowed) as steps:
        work(data)
    return steps.made


def test_a_loop_without_an_end_is_ended():
    with pytest.raises(TooManySteps, match=r"made 1,151 steps for 3 bytes; allowed are 1,150"):
        made_by(endless, b"abc")


def test_work_that_grows_with_its_input_is_fine_at_any_size():
    for size in (0, 10, 1_000):
        assert made_by(looks_at_each_byte, b"x" * size, each=2, first=10) == 2 * size + 2


def test_work_that_grows_faster_is_told_once_the_input_is_large():
    assert made_by(looks_back_at_all, b"x" * 10) > 0
    with pytest.raises(TooManySteps):
        made_by(looks_back_at_all, b"x" * 1_000)


def test_it_is_told_also_when_the_work_swallows_every_error():
    def swallows(data):
        with suppress(Exception):
            endless(data)

    with pytest.raises(TooManySteps):
        made_by(swallows, b"x")


def test_generators_and_coroutines_are_counted_too():
    def pieces():
        while True:
            yield b""

    async def reader():
        endless(b"x")

    with pytest.raises(TooManySteps):
        made_by(lambda _: list(pieces()), b"")
    with pytest.raises(TooManySteps):
        made_by(lambda _: reader().send(None), b"")


def test_what_is_done_only_once_is_left_out():
    def first_time(_):
        sys.modules.pop("colorsys", None)
        import colorsys

        re.purge()
        return re.fullmatch("[a-z]+(?:b|c)*", "abc") and colorsys

    assert 1 < made_by(first_time, b"", first=200) < 100


def test_whoever_traced_before_traces_again_afterwards():
    def tracer(*_):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with pytest.raises(TooManySteps):
            made_by(endless, b"x", each=0, first=5)
        found = sys.gettrace()
    finally:
        sys.settrace(before)
    assert found is tracer
