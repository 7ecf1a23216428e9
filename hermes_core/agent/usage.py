"""What model calls use and cost."""

from attrs import evolve

from hermes_core.types import Price, Usage

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


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost: what the service said, else by the list price, else unknown."""
    if usage.priced or usage.cost:
        return evolve(usage, priced=usage.priced or "actual")
    if price is None:
        return usage
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    fresh = max(0, usage.input - usage.cache_read - usage.cache_write)
    cost = fresh * price.input + usage.cache_read * read + usage.cache_write * write + usage.output * price.output
    free = not (price.input or price.output)
    return evolve(usage, cost=cost / 1_000_000, priced="actual" if free else "estimated")
