"""When choices are asked for, and what Tab and Enter make of them. Plain functions over text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.patterns import pattern

if TYPE_CHECKING:
    from hermes_core.types import Choice

__all__ = ["common_part", "is_wanted", "is_whole"]

_WORD = pattern(r"""(?:^|[\s(\[{<"'`,;:])@(?:"[^"\n]*|[^\s\ufdd0-\ufdef]*)\Z""")


def is_wanted(before: str) -> bool:
    """Whether the text before the cursor is being completed as it is typed: a command, or a word that begins with @."""
    if before.startswith("/"):
        return "\n" not in before
    return _WORD.search(before[-1000:]) is not None


def common_part(choices: Sequence["Choice"], before: str) -> str:
    """What all choices begin with, if that is more than what is there already; they must replace the same."""
    if len({choice.replaces for choice in choices}) != 1:
        return ""
    word = _replaced(choices[0], before)
    texts = [choice.text for choice in choices]
    first, last = min(texts), max(texts)  # whatever these two share, all between them share
    shared = first[
        : next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    ]
    return shared if len(shared) > len(word) and shared.startswith(word) else ""


def is_whole(choices: Sequence["Choice"], before: str) -> bool:
    """Whether what is typed already is one of the choices."""
    return any(choice.replaces and _replaced(choice, before) == choice.text.rstrip() for choice in choices)


def _replaced(choice: "Choice", before: str) -> str:
    return before[-choice.replaces :] if choice.replaces else ""
