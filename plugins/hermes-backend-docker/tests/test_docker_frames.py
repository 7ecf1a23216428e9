"""The frames of an attached command: whatever bytes the daemon sends, each is handed on once, and then it ends."""

import asyncio
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_docker.attach import PIECE, Attached
from hermes_core.testing import Steps


def framed(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


async def read(pieces: list[bytes]) -> list[tuple[int, bytes]]:
    """What is handed on; all is there already, so nothing waits."""
    reader, seen = asyncio.StreamReader(limit=2**20), list[tuple[int, bytes]]()
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    await Attached("id", reader, None).frames(lambda stream, data: seen.append((stream, data)))
    return seen


frames = st.lists(st.tuples(st.integers(1, 2), st.binary(max_size=40)), max_size=8)


@given(frames=frames, odd=st.binary(max_size=40), cuts=st.lists(st.integers(0, 300)))
async def test_any_bytes_are_read_to_their_end_in_few_steps(frames, odd, cuts):
    data = b"".join(framed(*frame) for frame in frames) + odd
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    with Steps(len(data), each=60):
        seen = await read(pieces)
    told = [frame for frame in frames if frame[1]]
    assert seen[: len(told)] == told
    assert sum(len(part) for _, part in seen[len(told) :]) <= len(odd)


async def test_a_frame_is_handed_on_in_bounded_parts():
    data = b"x" * (PIECE + 10)
    assert [len(part) for _, part in await read([framed(1, data)])] == [PIECE, 10]
    assert await read([framed(2, b"") * 3 + b"\x01\0\0\0\xff\xff\xff\xffcut"]) == [(1, b"cut")]
