"""Classes of attrs that are quick to import: they share their methods, and each has its ``__init__`` when it is used.

attrs writes and compiles these methods for every class, which is most of what importing a class costs. Every start of a
program imports two hundred and makes values of half of them. They behave as those of attrs.
"""

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import attrs
from attrs import NOTHING

__all__ = ["define", "frozen"]

_FEW = 8  # values of a class; for more attrs writes its ``__init__``
_FACTORY: Any = type(attrs.Factory(list))
_set = object.__setattr__  # these values are frozen, and so are the fields of attrs


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


class _Init:
    """Stands where the ``__init__`` of a class will be, and puts it there when it is worth it: most have few values."""

    def __init__(self) -> None:
        self._left = _FEW

    def __get__(self, one: Any, cls: Any) -> Any:
        owner = next((base for base in cls.__mro__ if base.__dict__.get("__init__") is self), None)
        if owner is None:  # whoever asks kept hold of what is compiled by now
            return cls.__init__.__get__(one, cls)
        self._left -= 1
        if one is None or self._left < 0:
            owner.__init__ = _written(owner)
            return owner.__init__.__get__(one, cls)
        return partial(_filled, owner, one)


def _filled(cls: Any, one: Any, /, *given: Any, **named: Any) -> None:
    """Do once what the ``__init__`` of a class would."""
    fields = [f for f in attrs.fields(cls) if f.init or f.default is not NOTHING]
    places = [f.alias for f in fields if f.init and not f.kw_only]
    known = {**dict(zip(places, given, strict=False)), **named}
    asked = {f.alias: f.default for f in fields if f.init}
    missing = [name for name, default in asked.items() if default is NOTHING and name not in known]
    if missing or len(known) < len(given) + len(named) or len(given) > len(places) or not known.keys() <= asked.keys():
        _written(cls)(one, *given, **named)  # it says what is wrong
    for field in fields:
        value = known.get(field.alias, NOTHING) if field.init else NOTHING
        value = field.default if value is NOTHING else value
        if type(value) is _FACTORY:
            value = value.factory(one) if value.takes_self else value.factory()
        _set(one, field.name, field.converter(value) if field.converter else value)
    for field in fields if not attrs.validators.get_disabled() else ():
        if field.validator:
            field.validator(one, field, getattr(one, field.name))
    if hasattr(cls, "__attrs_post_init__"):
        one.__attrs_post_init__()


def _written(cls: Any) -> Any:
    """Return the ``__init__`` that attrs writes for the fields of a class."""
    fields, after, free = [*attrs.fields(cls)], "__attrs_post_init__", cls.__setattr__ is _set
    bare = type(cls.__name__, (), {after: getattr(cls, after)} if hasattr(cls, after) else {})
    options: dict[str, Any] = {"frozen": not free, "field_transformer": lambda *_: fields}
    like: Any = attrs.define(bare, eq=False, repr=False, **options)
    made = like.__init__
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    return made


if TYPE_CHECKING:
    from attrs import define, frozen  # what type checkers know
else:

    def frozen(cls: Any = None, /, **options: Any) -> Any:
        """Make a class as ``attrs.frozen`` does: its values are equal when all they hold is, and stay as made."""
        if cls is None:
            return lambda made: frozen(made, **options)
        return _made(attrs.frozen, cls, options, _hash)

    def define(cls: Any = None, /, **options: Any) -> Any:
        """Make a class as ``attrs.define`` does: its values may change, and are no keys of a dictionary for that."""
        if cls is None:
            return lambda made: define(made, **options)
        return _made(attrs.define, cls, options, None)


def _made(make: Any, cls: Any, options: dict[str, Any], hashed: Any) -> Any:
    """Return the class with the shared methods, but for those that it has itself or does not want."""
    if options.pop("eq", True):
        for name, method in (("__eq__", _equal), ("__hash__", hashed)):
            setattr(cls, name, cls.__dict__.get(name) or method)
    if "__repr__" not in cls.__dict__:
        cls.__repr__ = _text
    if "__init__" in cls.__dict__:
        return make(cls, eq=False, repr=False, **options)
    hidden: list[tuple[Any, bool, Any]] = []

    def hide(_: type, fields: list[Any]) -> list[Any]:
        """Show attrs fields that are no arguments: it writes nothing for them."""
        if "__match_args__" not in cls.__dict__:
            type.__setattr__(cls, "__match_args__", tuple(f.name for f in fields if f.init and not f.kw_only))
        for one in fields:
            hidden.append((one, one.init, one.default))
            _set(one, "init", False)
            _set(one, "default", NOTHING)
        return fields

    cls.__init__ = _Init()
    made = make(cls, eq=False, repr=False, field_transformer=hide, **options)
    del made.__attrs_init__
    for one, init, default in hidden:
        _set(one, "init", init)
        _set(one, "default", default)
    return made
