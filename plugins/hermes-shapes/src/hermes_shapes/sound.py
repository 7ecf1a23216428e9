"""Whether a value holds what its class says, so that nobody stumbles over it who takes it from somebody else."""

import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

__all__ = ["unsound"]

_PLAIN: AbstractSet[Any] = {str, bool}
_known: dict[Any, Mapping[str, Any]] = {}
_shapes: dict[int, tuple[Any, tuple[Any, ...], Any, Any]] = {}


def unsound(value: Any, before: Any = None) -> str:
    """Say which field of a value holds something of another type, in words; empty when all is as its class says.

    What stands in the value of ``before`` as it is was looked at when that came.
    """
    values = [getattr(before, field) for field in _fields(type(before))]
    held = [*values, *(one for value in values if isinstance(value, tuple | list) for one in value)]
    known = {id(one) for one in held if attrs.has(type(one)) or (one and isinstance(one, tuple | list))}
    for name, kind in _fields(type(value)).items():
        held = getattr(value, name)
        if not (type(held) is kind and kind in _PLAIN) and not _fits(held, kind, known):
            return f"{type(value).__name__}.{name} is {held!r:.60}"
    return ""


def _fits(held: Any, kind: Any, known: set[int]) -> bool:
    if kind is str or kind is bool:
        return isinstance(held, kind)
    origin, inside, holds, _ = _shapes.get(id(kind)) or _shape(kind)
    if origin is tuple and held == ():
        return True
    if kind is Any or id(held) in known or isinstance(kind, str) or type(kind).__name__ == "TypeVar":
        return True
    if origin in (Union, types.UnionType):
        return (held is None and types.NoneType in inside) or any(_fits(held, one, known) for one in inside)
    if origin is Literal:
        return held in inside
    if kind is float:
        return isinstance(held, int | float)
    if not isinstance(origin or kind, type):
        return True
    if origin and issubclass(origin, str | bytes) is False and isinstance(held, str | bytes):
        return False
    if not isinstance(held, origin or kind) and not (origin is tuple and isinstance(held, list)):
        return False
    if holds is Mapping:
        return all(_fits(k, inside[0], known) and _fits(v, inside[1], known) for k, v in held.items())
    if holds:
        return all(_fits(one, inside[0], known) for one in held)
    return not _fields(type(held)) or not unsound(held)


def _shape(kind: Any) -> tuple[Any, tuple[Any, ...], Any, Any]:
    """Take a type apart: what it is made from, of what, and which sort of container it is; with the type, which stays.

    It is kept by identity: to hash a type of ``typing`` costs more than the rest.
    """
    origin, inside = get_origin(kind), get_args(kind)
    sorts = (Mapping, Sequence, AbstractSet) if isinstance(origin, type) else ()
    holds = next((sort for sort in sorts if issubclass(origin, sort)), None)
    _shapes[id(kind)] = found = origin, inside, holds, kind
    return found


def _fields(cls: Any) -> Mapping[str, Any]:
    """Return the fields of a class of attrs, each with its type."""
    if cls not in _known:
        hints: Mapping[str, Any] = {}
        with suppress(NameError):  # a name that only type checkers know
            hints = get_type_hints(cls) if attrs.has(cls) else {}
        _known[cls] = {field.name: hints[field.name] for field in attrs.fields(cls)} if hints else {}
    return _known[cls]
