"""Calls that a model wrote wrong: put right where they can be meant one way only, and left alone where there are two.

What is left alone is refused by the kernel, with what is wrong, so that the model writes it again.
"""

import json
from collections.abc import Sequence

from attrs import evolve

from hermes_core.types import CallDelta, ToolSpec

__all__ = ["mended", "mended_delta"]

_TYPES = {str: ("string",), int: ("integer", "number"), float: ("number",), bool: ("boolean",)}


def mended_delta(call: CallDelta, tools: Sequence[ToolSpec], *, cut: bool = False) -> CallDelta:
    """Give a call that has come whole as it was meant: see ``mended``."""
    name, arguments = mended(call.name, call.arguments, tools, cut=cut) if tools else (call.name, call.arguments)
    same = name == call.name and arguments == call.arguments
    return call if same else evolve(call, name=name, arguments=arguments)


def mended(name: str, arguments: str, tools: Sequence[ToolSpec], *, cut: bool = False) -> tuple[str, str]:
    """Give a call as it was meant, where that is sure; else as it came.

    Args:
        name: The tool's name, as the model wrote it.
        arguments: Its arguments, which should be a JSON object.
        tools: What was on offer.
        cut: The reply was cut by its length, so what is open at the end may have had more.

    Returns:
        The name and the arguments, both as they came or put right.
    """
    spec = next((one for one in tools if one.name == name), None)
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        value = None
    if spec is not None and isinstance(value, dict) and _plain(value, spec):
        return name, arguments
    from hermes_provider_kit.calls.forms import fitted, folded_name, read

    if spec is None:
        close = [one for one in tools if folded_name(one.name) == folded_name(name)]
        spec = close[0] if len(close) == 1 else None
        if spec is None:
            return name, arguments
    found = value if isinstance(value, dict) else read(arguments, spec, cut=cut)
    if found is None:
        return spec.name, arguments
    fit = fitted(found, spec)
    return spec.name, arguments if fit == value else json.dumps(fit, ensure_ascii=False)


def _plain(value: dict[str, object], spec: ToolSpec) -> bool:
    """Tell at a glance that nothing has to be looked at: known names, and no text where something else is wanted."""
    known = spec.schema.get("properties")
    if not isinstance(known, dict):
        return True
    for name, one in value.items():
        row = known.get(name)
        if not isinstance(row, dict) or "enum" in row:
            return False
        if row.get("type") not in _TYPES.get(type(one), ()) or type(one) in (list, dict):
            return False
    return True
