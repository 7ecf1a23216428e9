"""What a conversation used, added up and in the figures of the status bar."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_core.types import Usage

__all__ = ["added", "figures"]


def figures(usage: "Usage") -> dict[str, Any]:
    """Usage as the status bar tells it."""
    hits = 100 * usage.cache_read / usage.input if usage.input and usage.cache_read else None
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_hits": hits,
        "cost": usage.cost,
        "priced": usage.priced,
    }


def added(one: "Usage", other: "Usage") -> "Usage":
    """Both together; a price is as certain as the weaker of the two."""
    from hermes_core.types import Usage

    weaker = "" if "" in (one.priced, other.priced) and one.calls and other.calls else (one.priced or other.priced)
    if "estimated" in (one.priced, other.priced) and weaker:
        weaker = "estimated"
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        cache_read=one.cache_read + other.cache_read,
        cache_write=one.cache_write + other.cache_write,
        reasoning=one.reasoning + other.reasoning,
        cost=one.cost + other.cost,
        calls=one.calls + other.calls,
        priced=weaker,
    )
