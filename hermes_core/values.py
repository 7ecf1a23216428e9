"""Classes of attrs that share their comparison, hash and text instead of having each its own compiled.

attrs writes and compiles these methods for every class, which is half of what importing a class costs, and every start
of a program imports more than a hundred. They behave as those of attrs.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import attrs

__all__ = ["define", "frozen"]


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in _compared(self.__class__))


def _hash(self: Any) -> int:
    return hash((self.__class__, *(getattr(self, name) for name in _compared(self.__class__))))


def _text(self: Any) -> str:
    shown = (f"{name}={write(getattr(self, name))}" for name, write in _shown(self.__class__))
    return f"{self.__class__.__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


@cache
def _compared(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cls) if field.eq)


@cache
def _shown(cls: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, f.repr if callable(f.repr) else repr) for f in attrs.fields(cls) if f.repr)


if TYPE_CHECKING:
    from attrs import define, frozen  # what type checkers know
else:

    def frozen(cls: Any = None, /, **options: Any) -> Any:
        """As ``attrs.frozen``: a class whose values are equal when all they hold is, and stay as they were made."""
        if cls is None:
            return lambda made: frozen(made, **options)
        return attrs.frozen(_shared(cls, options, _hash), eq=False, repr=False, **options)

    def define(cls: Any = None, /, **options: Any) -> Any:
        """As ``attrs.define``: a class whose values may change, and are no keys of a dictionary for that."""
        if cls is None:
            return lambda made: define(made, **options)
        return attrs.define(_shared(cls, options, None), eq=False, repr=False, **options)


def _shared(cls: Any, options: dict[str, Any], hashed: Any) -> Any:
    """The class with the shared methods, but for those that it has itself or does not want."""
    if options.pop("eq", True):
        for name, method in (("__eq__", _equal), ("__hash__", hashed)):
            setattr(cls, name, cls.__dict__.get(name) or method)
    if "__repr__" not in cls.__dict__:
        cls.__repr__ = _text
    return cls
