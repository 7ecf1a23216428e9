"""The quick way from a plain mapping to a settings class: no message, no heavy import.

It accepts only what is exactly right. Whatever it refuses goes to ``check``, which says what is wrong or finds that
it was right in a way that is too rare to know here.
"""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from hermes_core.options import Secret

_SWITCH = {False: "off", True: "on"}  # a bare off in YAML 1.1 is false; a choice may still be called off


class Refused(Exception):
    """Not exactly right."""


def build(kind: Any, value: Any) -> Any:
    """The value as ``kind``. Raises Refused, or what a validator raises."""
    if kind is Any:
        return value
    if kind in (str, int, float, bool, Secret, NoneType):
        return scalar(value, kind)
    if attrs.has(kind):
        return _build_class(kind, value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return choose(value, inner)
    if origin is list and type(value) is list:
        return [build(inner[0], item) for item in value]
    if origin is dict and type(value) is dict and inner[0] is str and all(type(key) is str for key in value):
        return {key: build(inner[1], item) for key, item in value.items()}
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return None if value is None else build(inner[inner[0] is NoneType], value)
    raise Refused


def scalar(value: Any, kind: Any) -> Any:
    """The value if it is of that very kind; a whole number will do for a number. Raises Refused."""
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise Refused
    return value


def choose(value: Any, choices: tuple[Any, ...]) -> Any:
    """The value if it is one of the choices, in kind too (true is no 1). Raises Refused."""
    for candidate in (value, _SWITCH[value] if type(value) is bool else value):
        if any(type(candidate) is type(choice) and candidate == choice for choice in choices):
            return candidate
    raise Refused


def types_of(cls: type) -> "tuple[attrs.Attribute[Any], ...]":
    """The attributes a class is made with, types resolved also where they were written as text."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    if any(isinstance(field.type, str) for field in fields):
        attrs.resolve_types(cls)
        fields = attrs.fields(cls)
    return tuple(field for field in fields if field.init)


def _build_class(cls: Any, value: Any) -> Any:
    given = {} if value is None else dict(value) if type(value) is dict else {"": Refused}
    present = [f for f in types_of(cls) if f.name in given]
    made: dict[str, Any] = {f.alias or f.name: build(f.type, given.pop(f.name)) for f in present}
    if given:
        raise Refused
    return cls(**made)
