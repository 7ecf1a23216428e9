"""Whether what a client gave has the shape that a tool wants."""

from collections.abc import Mapping
from typing import Any

from hermes_core.types import JSON

__all__ = ["fits"]


def fits(schema: Mapping[str, JSON], given: Mapping[str, Any]) -> str:
    """Say what of the arguments does not fit, in a line; empty where all is well. No reference is fetched."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(Draft202012Validator(schema, registry=Registry()).iter_errors(given))
    except (RecursionError, Unresolvable):
        return "arguments: they cannot be checked"
    if error is None:
        return ""
    where = ".".join(str(one) for one in error.absolute_path)
    return " ".join(f"{where or 'arguments'}: {error.message[:300]}".split())
