"""A tool's arguments: the JSON Schema a model sees, and the check before anything else sees them.

Both come from one attrs class, or from a JSON Schema as it is. Understood types of a class: str, int, float, bool,
Literal, list[T], dict[str, T], attrs classes, ``T | None`` and JSON (anything). Nothing is converted by guessing; an
integral float is an int, as in JSON Schema.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from hermes_core.errors import ContractError, ToolError
from hermes_core.kinds import Tool
from hermes_core.types import JSON, ToolSpec
from hermes_shapes.build import types_of

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_MOST = 20  # problems told at once; a call with thousands of them is broken as a whole


def tool_spec(tool: Tool) -> ToolSpec:
    """Return what a model is told about a tool. Raises TypeError for a parameter type that has no JSON Schema."""
    if tool.schema is not None:
        return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)
    return _spec(tool.name, tool.description, tool.params)


@lru_cache(maxsize=1000)
def _spec(name: str, description: str, params: type) -> ToolSpec:
    """Share between sessions what they are told of a tool: a thousand of them hold it once."""
    return ToolSpec(name=name, description=description, schema=schema_of(params))


def schema_of(cls: type) -> dict[str, JSON]:
    """Return the JSON Schema of an attrs class: as small as it can be."""
    properties: dict[str, JSON] = {}
    required = []
    for item in types_of(cls):
        described = _schema(item.type)
        if text := item.metadata.get("help"):
            described["description"] = text
        if item.default is attrs.NOTHING:
            required.append(item.name)
        elif isinstance(item.default, str | int | float) and item.default:
            described["default"] = item.default
        properties[item.name] = described
    schema: dict[str, JSON] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


def parse_arguments(
    tool: Tool, given: Mapping[str, JSON], odd: Callable[[Tool, BaseException], None] = lambda _tool, _error: None
) -> Any:
    """Return an instance of the tool's parameter class; what was given, where the tool has a schema of its own.

    Raises ToolError that lists every problem at once. ``odd`` is told of a schema that cannot be checked: then what was
    given passes.
    """
    from hermes_shapes.schema import misfits

    problems: list[str] = []
    schema = tool.schema if tool.schema is not None else _exact(tool.params)
    try:
        problems += islice(misfits(schema, given, schema), _MOST)
    except RecursionError:
        problems.append("arguments: nested too deeply")
    except OverflowError as error:
        problems.append(f"arguments: {error}")
    except Exception as error:  # noqa: BLE001 - a schema may be anything
        odd(tool, ContractError(tool.name, f"its schema cannot be checked, so any arguments pass: {error}"))
    value = given if problems or tool.schema is not None else _object(tool.params, given, "", problems)
    if problems:
        text = f"{tool.name} was not run; its arguments are wrong:\n- " + "\n- ".join(problems[:_MOST])
        raise ToolError(text, hint="Call it again with arguments that match its schema.")
    return value


def _schema(kind: Any) -> dict[str, JSON]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind is Any:
        return {}
    if origin is Literal:
        texts = {"type": "string"} if all(isinstance(i, str) for i in inner) else {}
        return {**texts, "enum": list(inner)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": _schema(inner[0])}
    if origin in (dict, Mapping):
        values = _schema(inner[1])
        return {"type": "object"} | ({"additionalProperties": values} if values else {})
    if origin in (Union, UnionType):
        some = [i for i in inner if i is not NoneType]
        return _schema(some[0]) if len(some) == 1 else {"anyOf": [_schema(i) for i in some]}
    if attrs.has(kind):
        return schema_of(kind)
    raise TypeError(f"{kind!r} has no JSON Schema; use str, int, float, bool, Literal, list, dict or an attrs class")


@lru_cache(maxsize=1000)
def _exact(kind: Any) -> dict[str, JSON]:
    """Return the schema that arguments are held to: it says more than a model needs to be told."""
    from hermes_shapes.describe import type_schema

    return type_schema(kind)


def _object(cls: type, given: Mapping[str, JSON], path: str, problems: list[str]) -> Any:
    """Return what fits, as an instance of its class; None with the problems of what validators do not take."""
    before, fields = len(problems), {field.name: field for field in types_of(cls)}
    try:
        values = {
            fields[name].alias or name: _value(fields[name].type, value, f"{path}.{name}" if path else name, problems)
            for name, value in given.items()
        }
        return cls(**values) if len(problems) == before else None
    except Exception as error:  # noqa: BLE001 - a validator may raise anything; it is the model's mistake all the same
        problems.append(f"{path or 'arguments'}: {error.args[0] if error.args else error}")
        return None


def _value(kind: Any, value: JSON, path: str, problems: list[str]) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (int, float):
        return kind(value)
    if origin in (Union, UnionType):
        from hermes_shapes.schema import misfits

        fits = (one for one in inner if one is not NoneType and not any(misfits(_exact(one), value, {})))
        return None if value is None and NoneType in inner else _value(next(fits), value, path, problems)
    if origin in (list, tuple, Sequence):
        items = [_value(inner[0], one, f"{path}[{place}]", problems) for place, one in enumerate(value)]
        return tuple(items) if origin is tuple else items
    if origin in (dict, Mapping):
        return {key: _value(inner[1], one, f"{path}.{key}", problems) for key, one in value.items()}
    return _object(kind, value, path, problems) if attrs.has(kind) else value
