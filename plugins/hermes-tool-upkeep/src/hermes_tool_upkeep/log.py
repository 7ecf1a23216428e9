"""The log of a store (SQLite's WAL): SQLite reads it up to the first damage, and says nothing of what stands behind."""

import struct
import sys
from array import array
from pathlib import Path

__all__ = ["unread"]

_HEAD, _FRAME = 32, 24  # bytes before all frames, and before the page of each
_MAGIC = 0x377F0682  # and the same plus one, where checksums are of big-endian words
Sums = tuple[int, int]


def unread(store: Path) -> str:
    """Say what SQLite would not read of a store's log although it was written to its end; empty where that is nothing.

    The last write of all is not told from one that a death cut off.
    """
    path = store.with_name(f"{store.name}-wal")
    data = _read(path)
    if len(data) < _HEAD + _FRAME:
        return ""
    magic, _, page, _, salt, salt2, *sums = struct.unpack_from(">8I", data)
    big = magic == _MAGIC + 1
    before = _summed(data[:24], (0, 0), big)
    if magic & ~1 != _MAGIC or before != tuple(sums) or page & (page - 1) or page < 512:
        return f"the head of {path.name} is damaged, so that nothing in it is read" if _read(path) == data else ""
    broken, behind = False, 0
    for at in range(_HEAD, len(data) - _FRAME - page + 1, _FRAME + page):
        _, whole, own, own2, *sums = struct.unpack_from(">6I", data, at)
        if (own, own2) != (salt, salt2):
            broken = True  # of an earlier round; or damaged
        elif not broken:
            before = _summed(data[at + _FRAME : at + _FRAME + page], _summed(data[at : at + 8], before, big), big)
            broken = before != tuple(sums)
        else:
            behind += bool(whole)
    if not behind or _read(path)[:_HEAD] != data[:_HEAD]:  # it began anew while it was looked at
        return ""
    return f"{path.name} is damaged, and {behind} finished writes behind that are not read"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _summed(data: bytes, before: Sums, big: bool) -> Sums:
    """Go on with SQLite's checksum of a log."""
    words = array("I", data)
    if big != (sys.byteorder == "big"):
        words.byteswap()
    one, two = before
    numbers = iter(words)
    for first, second in zip(numbers, numbers, strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
