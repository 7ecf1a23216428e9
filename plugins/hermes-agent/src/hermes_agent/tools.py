"""A plain function as a tool: its arguments in the types it names, its result as a model can read it."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_origin, get_type_hints

from hermes_agent.context import Context, must_fit
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, ToolOutput
from hermes_core.types import JSON, Blob, Effect, Text
from hermes_shapes.functions import function_of
from hermes_shapes.results import shows, text_of

__all__ = ["output_of", "tool_of"]


def tool_of(
    function: Callable[..., Any], effects: Iterable[Effect], toolset: str, idempotent: bool, deps: object = None
) -> Tool:
    """Make a Tool from a plain function: each parameter becomes an argument. Raises UserError with all problems."""
    try:
        made = function_of(function, context=(ToolContext, Context))
        hints = get_type_hints(function)
        if not shows(gives := hints.get("return", Any)):
            raise TypeError(f"{made.name}: what it gives, {gives}, has no form that a model could read")
    except TypeError as error:
        raise UserError(f"Tool {error}.") from error
    ours = [name for name in made.context if (get_origin(hints[name]) or hints[name]) is Context]
    for name in ours:
        must_fit(made.name, hints[name], deps)

    async def run(context: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
        try:
            values = made.values(given) | dict.fromkeys(made.context, context)
            values |= {name: Context(deps, context) for name in ours}
        except (ValueError, TypeError) as error:
            raise ToolError(f"{made.name} was not run: {error}") from error
        if inspect.iscoroutinefunction(function):
            return output_of(await function(**values))
        return output_of(await asyncio.to_thread(function, **values))

    return Tool(
        name=made.name, description=made.description, schema=made.schema, run=run, toolset=toolset,
        effects=frozenset(effects), idempotent=idempotent,
    )  # fmt: skip


def output_of(value: Any) -> ToolOutput:
    """Give what a function gave as a model can read it: text and files as they are, all else as JSON or a table."""
    parts = value if isinstance(value, list | tuple) else (value,)
    if any(isinstance(one, Text | Blob) for one in parts):
        return [one if isinstance(one, Text | Blob) else Text(text=text_of(one)) for one in parts]
    return text_of(value)
