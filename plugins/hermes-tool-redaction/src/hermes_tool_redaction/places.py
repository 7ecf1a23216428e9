"""Places around a place: where its line begins and ends, and what stands just before it."""

import re

from hermes_tool_redaction.patterns import compiled

__all__ = ["just_before", "line_begin", "line_end"]


def line_begin(text: str, place: int, most: int) -> int:
    """Where the line of a place begins, or the last so many characters of it."""
    first = max(0, place - most)
    return text.rfind("\n", first, place) + 1 or first


def line_end(text: str, place: int, most: int = 1 << 30) -> int:
    """Where the line of a place ends, or the next so many characters of it."""
    end = text.find("\n", place, place + most)
    return min(len(text), place + most) if end < 0 else end


def just_before(pattern: str | re.Pattern[str], text: str, place: int, most: int) -> re.Match[str] | None:
    """The first match of a pattern in the last so many characters before a place."""
    return compiled(pattern).search(text, max(0, place - most), place)
