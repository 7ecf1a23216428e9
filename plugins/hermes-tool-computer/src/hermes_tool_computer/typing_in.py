"""Typing texts of any writing into X11: signs that no key has get a spare key for as long as they are typed.

xdotool by itself changes a key for each such sign and types it at once; a program that learns of the change a moment
later loses it. So here keys are changed for a piece of text at a time, and programs have a moment to hear of it.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence

from hermes_tool_computer.screen import Run

__all__ = ["pieces", "type_in"]

_PIECE = 500  # signs of one command: it ends within the time of one
_SPARE = 12  # keys that are changed at most
_BREAKS, _KEYS = re.compile(r"([\n\t])"), {"\n": "Return", "\t": "Tab"}
_HEARD = 0.3  # seconds until programs know of a changed key


async def type_in(run: Run, text: str) -> None:
    """Type a text, its ends of lines and tabs as keys. Raises ToolError. The keys are as before, however it ended."""
    if text.isascii():
        for piece, _ in pieces(text, 0):
            await _type(run, piece)
        return
    said = (await run(("xmodmap", "-pke"), b"")).decode(errors="replace")
    spare = [one.split()[1] for one in said.splitlines() if one.startswith("keycode") and one.rstrip().endswith("=")]
    spare = spare[-_SPARE:]
    try:
        for piece, signs in pieces(text, len(spare)):
            if signs:
                keys = [
                    f"keycode {key} = {_symbol(sign)} {_symbol(sign)}" for key, sign in zip(spare, signs, strict=False)
                ]
                await _change(run, keys)
            await _type(run, piece)
            await asyncio.sleep(_HEARD if signs else 0)  # what was typed is read with the keys that it was typed on
    finally:
        await _change(run, [f"keycode {key} =" for key in spare])


def pieces(text: str, spare: int) -> Iterator[tuple[str, Sequence[str]]]:
    """A text in pieces, each with the signs that need one of so many spare keys; without any xdotool does it alone."""
    piece, signs = "", dict[str, None]()
    for sign in text:
        new = not sign.isascii() and sign not in signs and spare > 0
        if len(piece) >= _PIECE or (new and len(signs) >= spare):
            yield piece, [*signs]
            piece, signs = "", {}
            new = not sign.isascii() and spare > 0
        if new:
            signs[sign] = None
        piece += sign
    if piece:
        yield piece, [*signs]


async def _type(run: Run, piece: str) -> None:
    for words in filter(None, _BREAKS.split(piece)):
        if key := _KEYS.get(words):  # xdotool has another key for an end of line, which many programs do not know
            await run(("xdotool", "key", "--clearmodifiers", key), b"")
            continue
        # By its input: what stands among arguments could be read by all of the machine.
        await run(("xdotool", "type", "--delay", "10", "--clearmodifiers", "--file", "-"), words.encode())


async def _change(run: Run, keys: Sequence[str]) -> None:
    if keys:
        await run(("xmodmap", *(word for key in keys for word in ("-e", key))), b"")
        await asyncio.sleep(_HEARD)


def _symbol(sign: str) -> str:
    return f"U{ord(sign):04X}"
