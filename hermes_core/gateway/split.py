"""Splitting a long message at a platform's limit without breaking words or code blocks."""

__all__ = ["split_text"]

_FENCE = "```"


def split_text(text: str, limit: int) -> list[str]:
    """The text in pieces of at most ``limit`` characters; 0 means no limit.

    Pieces end at an empty line, a line end or a space, whichever comes first from the end; a code block that is cut
    is closed and opened again. Raises ValueError for a limit too small to hold that.
    """
    if not limit or len(text) <= limit:
        return [text]
    if limit < 20:
        raise ValueError(f"a limit of {limit} characters cannot hold a message")
    pieces: list[str] = []
    opened = ""
    rest = text
    while rest:
        prefix = f"{opened}\n" if opened else ""
        room = limit - len(prefix)
        if len(rest) <= room:
            pieces.append(prefix + rest)
            break
        cut = _cut(rest, room - len(_FENCE) - 1)
        piece, rest = rest[:cut], rest[cut:]
        opened = _open_fence(opened, piece, limit)
        pieces.append(prefix + piece.rstrip("\n") + (f"\n{_FENCE}" if opened else ""))
        rest = rest.lstrip("\n") if not opened else rest.removeprefix("\n")
    return pieces


def _cut(text: str, room: int) -> int:
    for mark in ("\n\n", "\n", " "):
        at = text.rfind(mark, room // 2, room)
        if at > 0:
            return at + len(mark)
    return room


def _open_fence(opened: str, piece: str, limit: int) -> str:
    """The line that opens the code block which is open at the end of the piece, or an empty string."""
    for line in piece.splitlines():
        if line.lstrip().startswith(_FENCE):
            opened = "" if opened else line.strip()[: limit // 4]
    return opened
