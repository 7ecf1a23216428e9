"""What of a payload is told: places in braces stand for what is there. Nothing in a template or a payload runs.

``{pull_request.title}`` is what stands at these names, ``{commits.0.message}`` counts from 0, ``{__raw__}`` is all of
it as JSON, and ``{{`` and ``}}`` are braces. What is not there is nothing; any other brace stays as it is.
"""

import json
import re
from collections.abc import Mapping

from hermes_core.codec import clean
from hermes_core.types import JSON

__all__ = ["as_word", "at", "filled", "places"]

RAW = "__raw__"
WHOLE = 16_000  # characters of all that is told
_RAW, _PART = 4_000, 2_000  # of the payload as it is, and of one place in it
_PIECE = re.compile(r"\{\{|\}\}|\{([\w@$-]+(?:\.[\w@$-]+)*)\}")


def filled(template: str, payload: JSON) -> str:
    """Return a template with what the payload has at its places."""

    def stands_for(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        if found[1] == RAW:
            return _cut(_shown(payload, indent=1), _RAW)
        return _cut(_shown(at(payload, found[1])), _PART)

    return _cut(clean(_PIECE.sub(stands_for, template)), WHOLE)


def places(template: str) -> list[str]:
    """Return the places of a template, in their order."""
    return [found[1] for found in _PIECE.finditer(template) if found[1] is not None]


def at(payload: JSON, place: str) -> JSON:
    """Return what a payload has at a place; None where that is nothing."""
    found = payload
    for name in place.split("."):
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and name.isascii() and name.isdigit() and len(name) < 7 and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def as_word(value: JSON) -> str:
    """Return a value as a person writes it in a condition."""
    return _shown(value)


def _shown(value: JSON, indent: int | None = None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=indent)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
