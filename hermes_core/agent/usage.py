"""What model calls use and cost."""

from operator import add as plus
from operator import attrgetter
from typing import Literal

from attrs import evolve, fields

from hermes_core.types import Price, Usage

CERTAINTY: tuple[Literal["", "estimated", "actual"], ...] = ("", "estimated", "actual")  # weakest first
_FIGURES = [field.name for field in fields(Usage) if field.name != "priced"]
_figures = attrgetter(*_FIGURES)


def add(one: Usage, other: Usage) -> Usage:
    """Return the sum of two usages; its cost is as certain as its weakest part."""
    known = [part.priced for part in (one, other) if part.calls]
    figures = dict(zip(_FIGURES, map(plus, _figures(one), _figures(other)), strict=True))
    return Usage(**figures, priced=min(known, key=CERTAINTY.index) if known else "")


def priced(usage: Usage, price: Price | None) -> Usage:
    """Return the usage with its cost: what the service said, else by the list price, else unknown."""
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
