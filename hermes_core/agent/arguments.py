"""A tool's arguments: the JSON Schema a model sees, and the check before anything else sees them.

Both come from one attrs class, or from a JSON Schema as it is. Understood types of a class: str, int, float, bool,
Literal, list[T], dict[str, T], attrs classes, ``T | None`` and JSON (anything). Nothing is converted by guessing; an
integral float is an int, as in JSON Schema.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from hermes_core.errors import ContractError, ToolError, nearest
from hermes_core.kinds import Tool
from hermes_core.types import JSON, ToolSpec
from hermes_shapes.schema import NAMES, misfits, shown

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_HUGE = 10**300  # a larger whole number is no float
_MOST = 20  # problems told at once; a call with thousands of them is broken as a whole


def tool_spec(tool: Tool) -> ToolSpec:
    """What a model is told about a tool. Raises TypeError for a parameter type that has no JSON Schema."""
    if tool.schema is not None:
        return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)
    return _spec(tool.name, tool.description, tool.params)


@lru_cache(maxsize=1000)
def _spec(name: str, description: str, params: type) -> ToolSpec:
    """Sessions share what they are told of a tool: a thousand of them hold it once."""
    return ToolSpec(name=name, description=description, schema=schema_of(params))


def schema_of(cls: type) -> dict[str, JSON]:
    """The JSON Schema of an attrs class: as small as it can be."""
    properties: dict[str, JSON] = {}
    required = []
    for item in _fields(cls):
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
    """An instance of the tool's parameter class; what was given, where the tool has a schema of its own.

    Raises ToolError that lists every problem at once. ``odd`` is told of a schema that cannot be checked: then what was
    given passes.
    """
    problems: list[str] = []
    value = given if tool.schema is not None else _object(tool.params, given, "", problems)
    try:
        problems += misfits(tool.schema, given, tool.schema) if tool.schema is not None else ()
    except RecursionError:
        problems.append("arguments: nested too deeply")
    except OverflowError as error:
        problems.append(f"arguments: {error}")
    except Exception as error:  # noqa: BLE001 - a schema may be anything
        odd(tool, ContractError(tool.name, f"its schema cannot be checked, so any arguments pass: {error}"))
    if problems:
        raise ToolError(
            f"{tool.name} was not run; its arguments are wrong:\n- " + "\n- ".join(problems[:_MOST]),
            hint="Call it again with arguments that match its schema.",
        )
    return value


def _fields(cls: type) -> Sequence["attrs.Attribute[Any]"]:
    if any(isinstance(f.type, str) for f in attrs.fields(cls)):
        attrs.resolve_types(cls)
    return [f for f in attrs.fields(cls) if f.init]


def _schema(kind: Any) -> dict[str, JSON]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind is Any:
        return {}
    if origin is Literal:
        return (
            {"type": "string", "enum": list(inner)} if all(isinstance(i, str) for i in inner) else {"enum": list(inner)}
        )
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


def _object(cls: type, given: JSON, path: str, problems: list[str]) -> Any:
    if not isinstance(given, Mapping):
        problems.append(f"{path or 'arguments'}: expected an object, got {shown(given)}")
        return None
    before = len(problems)
    fields = {f.name: f for f in _fields(cls)}
    values: dict[str, Any] = {}
    for name, value in given.items():
        where = f"{path}.{name[:100]}" if path else name[:100]
        if name not in fields:
            close = nearest(name[:100], fields) if len(problems) < _MOST else ""
            problems.append(f"{where}: no such argument" + (f"; did you mean {close}?" if close else ""))
            continue
        values[fields[name].alias or name] = _value(fields[name].type, value, where, problems)
    for name, item in fields.items():
        if item.default is attrs.NOTHING and name not in given:
            problems.append(f"{f'{path}.' if path else ''}{name}: required, and missing")
    if len(problems) > before:
        return None
    try:
        return cls(**values)
    except Exception as error:  # noqa: BLE001 - a validator may raise anything; it is the model's mistake all the same
        problems.append(f"{path or 'arguments'}: {error.args[0] if error.args else error}")
        return None


def _value(kind: Any, value: JSON, path: str, problems: list[str]) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if kind in _SCALARS:
        return _scalar(kind, value, path, problems)
    if origin is Literal:
        if value not in inner:
            problems.append(f"{path}: expected one of {', '.join(map(str, inner))}, got {shown(value)}")
        return value
    if origin in (Union, UnionType):
        return _union(inner, value, path, problems)
    if origin in (list, tuple, Sequence):
        if not isinstance(value, list):
            problems.append(f"{path}: expected a list, got {shown(value)}")
            return None
        items = [_value(inner[0], v, f"{path}[{i}]", problems) for i, v in enumerate(value)]
        return tuple(items) if origin is tuple else items
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            problems.append(f"{path}: expected an object, got {shown(value)}")
            return None
        return {k: _value(inner[1], v, f"{path}.{k}", problems) for k, v in value.items()}
    return _object(kind, value, path, problems)


def _scalar(kind: Any, value: JSON, path: str, problems: list[str]) -> Any:
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
        return float(value)
    if type(value) is not kind:
        problems.append(f"{path}: expected {NAMES[_SCALARS[kind]]}, got {shown(value)}")
    return value


def _union(inner: Sequence[Any], value: JSON, path: str, problems: list[str]) -> Any:
    if value is None and NoneType in inner:
        return None
    best: list[str] | None = None
    for kind in (i for i in inner if i is not NoneType):
        trial: list[str] = []
        result = _value(kind, value, path, trial)
        if not trial:
            return result
        best = trial if best is None or len(trial) < len(best) else best
    problems.extend(best or ())
    return None
