"""Adding up what turns use."""

from attrs import astuple, fields

from hermes_core.types import Usage

_NAMES = [field.name for field in fields(Usage)]


def add(one: Usage, other: Usage, sign: int = 1) -> Usage:
    """The sum of two usages."""
    pairs = zip(_NAMES, astuple(one), astuple(other), strict=True)
    return Usage(**{name: mine + sign * theirs for name, mine, theirs in pairs})


def subtract(one: Usage, other: Usage) -> Usage:
    """What one usage has more than the other."""
    return add(one, other, -1)
