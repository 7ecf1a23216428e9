"""A tool's arguments: what a model is told of them, and the check before anything else sees them.

Both come from one attrs class, or from a JSON Schema as it is.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from hermes_core.errors import ContractError, ToolError
from hermes_core.kinds import Tool
from hermes_core.types import JSON, ToolSpec
from hermes_shapes.arguments import exact, filled, told

_MOST = 20  # problems told at once; a call with thousands of them is broken as a whole


def tool_spec(tool: Tool) -> ToolSpec:
    """Return what a model is told about a tool. Raises TypeError for a parameter type that has no JSON Schema."""
    if tool.schema is not None:
        return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)
    return _spec(tool.name, tool.description, tool.params)


@lru_cache(maxsize=1000)
def _spec(name: str, description: str, params: type) -> ToolSpec:
    """Share between sessions what they are told of a tool: a thousand of them hold it once."""
    return ToolSpec(name=name, description=description, schema=told(params))


def parse_arguments(
    tool: Tool, given: Mapping[str, JSON], odd: Callable[[Tool, BaseException], None] = lambda _tool, _error: None
) -> Any:
    """Return an instance of the tool's parameter class; what was given, where the tool has a schema of its own.

    Raises ToolError that lists every problem at once. ``odd`` is told of a schema that cannot be checked: then what was
    given passes.
    """
    from hermes_shapes.schema import misfits

    problems: list[str] = []
    schema = tool.schema if tool.schema is not None else exact(tool.params)
    try:
        problems += islice(misfits(schema, given, schema), _MOST)
    except RecursionError:
        problems.append("arguments: nested too deeply")
    except OverflowError as error:
        problems.append(f"arguments: {error}")
    except Exception as error:  # noqa: BLE001 - a schema may be anything
        odd(tool, ContractError(tool.name, f"its schema cannot be checked, so any arguments pass: {error}"))
    value = given if problems or tool.schema is not None else filled(tool.params, given, "", problems)
    if problems:
        text = f"{tool.name} was not run; its arguments are wrong:\n- " + "\n- ".join(problems[:_MOST])
        raise ToolError(text, hint="Call it again with arguments that match its schema.")
    return value
