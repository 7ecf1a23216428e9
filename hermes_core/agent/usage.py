"""Adding up what turns use."""

from hermes_core.types import Usage

_CERTAINTY = ("", "estimated", "actual")


def add(one: Usage, other: Usage) -> Usage:
    """The sum of two usages."""
    known = [part.priced for part in (one, other) if part.calls]
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        cache_read=one.cache_read + other.cache_read,
        cache_write=one.cache_write + other.cache_write,
        reasoning=one.reasoning + other.reasoning,
        cost=one.cost + other.cost,
        calls=one.calls + other.calls,
        priced=min(known, key=_CERTAINTY.index) if known else "",
    )
