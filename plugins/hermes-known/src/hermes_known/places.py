"""Where a word stands in a text, and what of a value is the same in any base64 that holds it."""

from collections.abc import Iterator

__all__ = ["Span", "in_base64", "places"]

Span = tuple[int, int, bool]  # begin, end, and whether nothing of it may be shown


def places(needle: str, text: str, whole: bool = True) -> Iterator[Span]:
    """Yield where a needle stands in a text."""
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle), whole
        at = text.find(needle, at + len(needle))


def in_base64(data: bytes) -> Iterator[str]:
    """Yield what of the bytes' base64 is the same, whatever stands before and behind: three, as three bytes go in."""
    import base64

    for shift in range(3):  # where in the encoded bytes it begins decides its letters
        coded = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        yield coded[(0, 2, 3)[shift] : len(coded) - (1 if (shift + len(data)) % 3 else 0)]
