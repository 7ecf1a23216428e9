"""Token counts of a reply. They come twice, at its start and at its end, and only grow."""

from collections.abc import Mapping

from hermes_core.types import JSON, Usage

__all__ = ["grow_usage", "whole_number"]


def grow_usage(before: Usage, found: Mapping[str, JSON]) -> Usage:
    """The usage with what an event adds to it. The protocol counts cached tokens apart; here they are part of input."""
    read = max(before.cache_read, whole_number(found.get("cache_read_input_tokens")))
    written = max(before.cache_write, whole_number(found.get("cache_creation_input_tokens")))
    plain = before.input - before.cache_read - before.cache_write
    details = found.get("output_tokens_details")
    thought = whole_number(details.get("thinking_tokens")) if isinstance(details, dict) else 0
    return Usage(
        input=max(plain, whole_number(found.get("input_tokens"))) + read + written,
        output=max(before.output, whole_number(found.get("output_tokens"))),
        cache_read=read,
        cache_write=written,
        reasoning=max(before.reasoning, thought),
        calls=1,
    )


def whole_number(value: JSON) -> int:
    """A count, or 0 when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 10**15 else 0  # NaN is neither
