"""What is typed or pasted, made safe to show and to keep."""

import asyncio

from hermes_core.patterns import pattern

__all__ = ["clean_slowly", "plain"]

SLICE = 64_000  # characters; what is cleaned before somebody else may have the loop
_SEQUENCE = pattern(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[ -/]?[0-~]"
)
_DROPPED = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Unicode keeps these 32 for the inside of a program; the composer marks its chips with them.
_RESERVED = pattern("[\ufdd0-\ufdef]")
_BREAKS = pattern("\r\n|[\r\x85\u2028\u2029]")


def _clean(text: str) -> str:
    return _DROPPED.sub("", _BREAKS.sub("\n", _SEQUENCE.sub("", text)))


def plain(text: str) -> str:
    """The text without escape sequences, control characters and anything that could pass for a chip."""
    return _RESERVED.sub("", _clean(text))


async def clean_slowly(text: str) -> str:
    """The same for a text of any length, a slice at a time: keys go on being answered."""
    if len(text) <= SLICE:
        return plain(text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + SLICE) + 1  # no sequence goes past the end of a line
        if not 0 < end <= start + 2 * SLICE:
            end = start + SLICE
        pieces.append(plain(text[start:end]))
        start = end
        await asyncio.sleep(0)
    return "".join(pieces)
