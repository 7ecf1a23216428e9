"""The quick way from a plain mapping to a settings class: no message, no heavy import.

It accepts only what is exactly right. Whatever it refuses goes to ``check``, which says what is wrong or finds that
it was right in a way that is too rare to know here.
"""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from hermes_core.options import Secret

SWITCH = {False: "off", True: "on"}  # a bare off in YAML 1.1 is false; a choice may still be called off


class Refused(Exception):
    """Not exactly right."""


def build(kind: Any, value: Any) -> Any:
    """The value as ``kind``.

    Raises Refused, or what a validator raises.
    """
    if kind is Any:
        return value
    if kind is float and type(value) is int:
        return float(value)
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    if kind in (str, int, float, bool, NoneType):
        if type(value) is kind:
            return value
    elif attrs.has(kind):
        return _build_class(kind, value)
    else:
        return _build_generic(kind, get_origin(kind), get_args(kind), value)
    raise Refused


def types_of(cls: type) -> "tuple[attrs.Attribute[Any], ...]":
    """The attributes a class is made with, types resolved also where they were written as text."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    if any(isinstance(field.type, str) for field in fields):
        attrs.resolve_types(cls)
        fields = attrs.fields(cls)
    return tuple(field for field in fields if field.init)


def _build_class(cls: Any, value: Any) -> Any:
    if value is None:
        value = {}
    if type(value) is not dict:
        raise Refused
    given = dict(value)
    made: dict[str, Any] = {
        f.alias or f.name: build(f.type, given.pop(f.name)) for f in types_of(cls) if f.name in given
    }
    if given:
        raise Refused
    return cls(**made)


def _build_generic(kind: Any, origin: Any, inner: tuple[Any, ...], value: Any) -> Any:
    if origin is Literal:
        value = value if value in inner else SWITCH.get(value) if type(value) is bool else None
        if value in inner and type(value) is not bool:
            return value
    elif origin is list and type(value) is list:
        return [build(inner[0], item) for item in value]
    elif origin is dict and type(value) is dict and inner[0] is str:
        if all(type(key) is str for key in value):
            return {key: build(inner[1], item) for key, item in value.items()}
    elif origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return None if value is None else build(inner[0] if inner[1] is NoneType else inner[1], value)
    raise Refused
