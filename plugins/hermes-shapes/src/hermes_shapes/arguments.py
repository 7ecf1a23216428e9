"""The arguments of a call as a class: the JSON Schema that a caller is told, and the object made of what was given.

Understood types are str, int, float, bool, Literal, list[T], dict[str, T], attrs classes, ``T | None`` and Any. Nothing
is converted by guessing; an integral float is an int, as in JSON Schema.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import attrs
from attrs import NOTHING

from hermes_shapes.build import types_of

__all__ = ["exact", "filled", "told"]

JSON: TypeAlias = Any

_EXPECTED = ("", ".", 0, 1)
_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def told(cls: type) -> dict[str, JSON]:
    """The JSON Schema of a class, as small as it can be. Raises TypeError for a type that has none.

    A field may say by ``told`` in its metadata what is told of it instead of its type: a schema, or None for nothing.
    A default that anybody would expect is not told, and of choices the first is what holds where nothing is given.
    """
    properties: dict[str, JSON] = {}
    required = []
    for item in types_of(cls):
        if (brief := item.metadata.get("told", NOTHING)) is None:
            continue
        described = _schema(item.type) if brief is NOTHING else {**brief}
        if text := item.metadata.get("help"):
            described["description"] = text
        if item.default is NOTHING:
            required.append(item.name)
        elif isinstance(item.default, str | int | float) and not _is_expected(item.default, described):
            described["default"] = item.default
        properties[item.name] = described
    schema: dict[str, JSON] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


def _is_expected(default: Any, described: Mapping[str, JSON]) -> bool:
    return default is not True and default in (*_EXPECTED, *described.get("enum", ())[:1])


@lru_cache(maxsize=1000)
def exact(kind: Any) -> dict[str, JSON]:
    """The schema that what is given is held to: it says more than a caller needs to be told."""
    from hermes_shapes.describe import type_schema

    return type_schema(kind)


def filled(cls: type, given: Mapping[str, JSON], path: str, problems: list[str]) -> Any:
    """What fits ``exact``, as an object; None with the ``problems`` of what validators do not take."""
    before, fields = len(problems), {field.name: field for field in types_of(cls)}
    try:
        values = {
            fields[name].alias or name: _value(fields[name].type, value, f"{path}.{name}" if path else name, problems)
            for name, value in given.items()
        }
        return cls(**values) if len(problems) == before else None
    except Exception as error:  # noqa: BLE001 - a validator may raise anything; it is the caller's mistake all the same
        problems.append(f"{path or 'arguments'}: {error.args[0] if error.args else error}")
        return None


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
        return told(kind)
    raise TypeError(f"{kind!r} has no JSON Schema; use str, int, float, bool, Literal, list, dict or an attrs class")


def _value(kind: Any, value: JSON, path: str, problems: list[str]) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (int, float):
        return kind(value)
    if origin in (Union, UnionType):
        from hermes_shapes.schema import misfits

        fits = (one for one in inner if one is not NoneType and not any(misfits(exact(one), value, {})))
        return None if value is None and NoneType in inner else _value(next(fits), value, path, problems)
    if origin in (list, tuple, Sequence):
        items = [_value(inner[0], one, f"{path}[{place}]", problems) for place, one in enumerate(value)]
        return tuple(items) if origin is tuple else items
    if origin in (dict, Mapping):
        return {key: _value(inner[1], one, f"{path}.{key}", problems) for key, one in value.items()}
    return filled(kind, value, path, problems) if attrs.has(kind) else value
