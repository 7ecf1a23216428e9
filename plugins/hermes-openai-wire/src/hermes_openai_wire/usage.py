"""Token counts in the many spellings of the protocol."""

from collections.abc import Mapping

from hermes_core.types import JSON, Usage

__all__ = ["read_usage", "whole_number"]

_CACHE_READ = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
)
_CACHE_WRITE = (
    ("prompt_tokens_details", "cache_write_tokens"),
    ("prompt_tokens_details", "cache_creation_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
    ("cache_creation_input_tokens",),
)
_REASONING = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),
)


def read_usage(found: Mapping[str, JSON]) -> Usage:
    """The usage object of a reply as Usage; fields that make no sense count as 0."""
    prompt = _first(found, (("prompt_tokens",), ("input_tokens",)))
    output = _first(found, (("completion_tokens",), ("output_tokens",)))
    cached = _first(found, _CACHE_READ)
    written = _first(found, _CACHE_WRITE)
    if cached + written > prompt:  # a dialect that counts only what was not cached
        prompt += cached + written
    cost = found.get("cost")
    return Usage(
        input=prompt,
        output=output,
        cache_read=cached,
        cache_write=written,
        reasoning=_first(found, _REASONING),
        cost=_money(cost),
        calls=1,
        priced="actual" if isinstance(cost, int | float) else "",
    )


def whole_number(value: JSON) -> int:
    """A count, or 0 when it is none."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 10**15 else 0  # NaN is neither


def _money(value: JSON) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**9
    return float(value) if good else 0.0


def _first(found: Mapping[str, JSON], paths: tuple[tuple[str, ...], ...]) -> int:
    for path in paths:
        value: JSON = found
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if number := whole_number(value):
            return number
    return 0
