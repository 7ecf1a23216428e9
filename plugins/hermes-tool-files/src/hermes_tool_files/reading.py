"""Numbered lines of a file, within what a model should read at once."""

from collections.abc import Iterator

from hermes_core.errors import ToolError
from hermes_tool_files.content import decode, is_binary

LINE = 2_000  # characters of one line
PAGE = 48_000  # bytes of one answer; the kernel's own bound is a little above
_PICTURES = {b"\x89PNG": "PNG picture", b"\xff\xd8\xff": "JPEG picture", b"GIF8": "GIF picture", b"%PDF": "PDF"}


def numbered(path: str, data: bytes, offset: int, limit: int) -> str:
    """``LINE|text`` for each line from ``offset`` on, and how to go on. Raises ToolError for what is no text."""
    if is_binary(data):
        kind = next((kind for mark, kind in _PICTURES.items() if data.startswith(mark)), "binary file")
        raise ToolError(
            f"{path} is a {kind} of {len(data):,} bytes, not text.", hint="Look at it with a command.", retry=False
        )
    text = decode(data).text
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    if not count:
        return f"{path} is empty."
    if offset > count:
        raise ToolError(f"{path} has only {count:,} lines; offset {offset:,} is beyond its end.")
    shown: list[str] = []
    size = 0
    for number, line in enumerate(_lines(text, offset, min(limit, count - offset + 1)), offset):
        row = f"{number}|{_shortened(line.removesuffix(chr(13)))}"
        size += len(row.encode(errors="replace")) + 1
        if size > PAGE and shown:
            break
        shown.append(row)
    last = offset + len(shown) - 1
    if last < count:
        shown.append(f"[lines {offset:,}-{last:,} of {count:,}; go on with offset={last + 1}]")
    return "\n".join(shown)


def _lines(text: str, offset: int, limit: int) -> Iterator[str]:
    """Some lines of a text, without making all of them: a log may have millions."""
    at = 0
    for _ in range(offset - 1):
        at = text.index("\n", at) + 1
    for _ in range(limit):
        end = text.find("\n", at)
        yield text[at:] if end < 0 else text[at:end]
        at = end + 1


def _shortened(line: str) -> str:
    return line if len(line) <= LINE else f"{line[:LINE]}… [{len(line) - LINE:,} more characters in this line]"
