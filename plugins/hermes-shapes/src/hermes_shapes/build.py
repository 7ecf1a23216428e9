"""The quick way from a plain mapping to a class of options: no message, no heavy import.

It accepts only what is exactly right. Whatever it refuses goes to ``check``, which says what is wrong or finds that
it was right in a way that is too rare to know here.
"""

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

import attrs

__all__ = ["NAMES", "Keys", "Problem", "Refused", "build", "is_either", "is_text", "nearest", "types_of"]

Keys: TypeAlias = tuple[str | int, ...]

NAMES: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
NAMES |= {NoneType: "empty", list: "a list", dict: "a section"}
_SWITCH = {False: "off", True: "on"}  # a bare off in YAML 1.1 is false; a choice may still be called off


class Refused(Exception):
    """Not exactly right."""


class Problem(NamedTuple):
    """One thing that is wrong, and the keys that lead to it."""

    keys: Keys
    text: str

    @property
    def path(self) -> str:
        """The keys as people write them: ``platforms.telegram.chats[2]``."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).lstrip(".")


def build(kind: Any, value: Any) -> Any:
    """The value as ``kind``. Raises Refused, or what a validator raises."""
    if kind is Any or type(value) is kind:
        return value
    if (kind is float and type(value) is int) or (isinstance(value, str) and is_text(kind)):
        return kind(value)
    if attrs.has(kind):
        return _build_class(kind, value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _choose(value, inner)
    if origin is list and type(value) is list:
        return [build(inner[0], item) for item in value]
    if origin is tuple and type(value) is list and inner[1:] == (...,):
        return tuple(build(inner[0], item) for item in value)
    if origin in (dict, Mapping) and type(value) is dict and inner[0] is str and all(type(key) is str for key in value):
        return {key: build(inner[1], item) for key, item in value.items()}
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return None if value is None else build(inner[inner[0] is NoneType], value)
    if is_either(kind) and (type(value) in inner or (float in inner and type(value) is int)):
        return value if type(value) in inner else float(value)
    raise Refused


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like a wrong one, or nothing where none is close."""
    from difflib import get_close_matches  # a name is seldom wrong

    return next(iter(get_close_matches(name, list(known), n=1)), "")


def is_text(kind: Any) -> bool:
    """Whether a type is a text: ``str``, or a class made of it."""
    return isinstance(kind, type) and issubclass(kind, str)


def is_either(kind: Any) -> bool:
    """Whether a type is one of several plain ones, such as ``str | float``."""
    inner = get_args(kind)
    return get_origin(kind) in (Union, UnionType) and all(one in (str, int, float, bool) for one in inner)


def types_of(cls: type) -> "tuple[attrs.Attribute[Any], ...]":
    """The attributes a class is made with, types resolved also where they were written as text."""
    if any(isinstance(field.type, str) for field in attrs.fields(cls)):
        attrs.resolve_types(cls)
    return tuple(field for field in attrs.fields(cls) if field.init)


def _choose(value: Any, choices: tuple[Any, ...]) -> Any:
    for candidate in (value, _SWITCH[value] if type(value) is bool else value):
        if any(type(candidate) is type(choice) and candidate == choice for choice in choices):
            return candidate
    raise Refused


def _build_class(cls: Any, value: Any) -> Any:
    given = {} if value is None else value
    fields = {field.name: field for field in types_of(cls)}
    if type(given) is not dict or not given.keys() <= fields.keys():
        raise Refused
    return cls(**{fields[key].alias or key: build(fields[key].type, item) for key, item in given.items()})
