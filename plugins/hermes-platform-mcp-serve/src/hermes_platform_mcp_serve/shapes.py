"""Whether what a client gave has the shape that a tool wants."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from hermes_core.types import JSON

__all__ = ["fits"]

_MOST = 5


def fits(schema: Mapping[str, JSON], given: Mapping[str, Any]) -> str:
    """Say what of the arguments does not fit, in a line; empty where all is well."""
    from hermes_shapes.schema import misfits

    try:
        return "; ".join(islice(misfits(schema, given, schema), _MOST))
    except (ValueError, RecursionError, OverflowError):  # too deep, or a schema that cannot be checked
        return "arguments: they cannot be checked"
