"""Classes of attrs that are quick to import: they share their methods, and each has its ``__init__`` when it is used.

attrs looks at a class, and writes and compiles these methods for it: most of what importing a class costs. A program
imports hundreds, and half of them it never uses in one run. A class is looked at when it is first used.
"""

from functools import cache, partial
from threading import RLock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
from attrs import NOTHING

__all__ = ["define", "frozen"]

_FEW = 64  # values of a class; for more attrs writes its ``__init__``, which takes as long as filling in so many does
_FACTORY: Any = type(attrs.Factory(list))
_ONE = RLock()  # of a class that two threads use first, attrs must be asked once
_FROZEN: Any = attrs.frozen(type("_Frozen", (), {}))  # what keeps values as they were made is lent by it
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

    def __init__(self, owner: Any) -> None:
        self._owner, self._left = owner, _FEW

    def __get__(self, one: Any, cls: Any) -> Any:
        self._left -= 1
        if one is not None and not isinstance(one, type) and self._left >= 0:
            return partial(_filled, self._owner, one)
        if self._owner.__dict__["__init__"] is self:
            self._owner.__init__ = _written(self._owner)
        return self._owner.__init__.__get__(one, cls)


@cache
def _asked(cls: Any) -> tuple[dict[str, Any], list[str], dict[str, Any], list[Any]]:
    """Return the fields of a class by name, its arguments by place, its defaults, and which fields have a say."""
    fields = {f.name: f for f in attrs.fields(cls)}
    defaults = {name: f.default for name, f in fields.items() if f.default is not NOTHING}
    judging = [f for f in fields.values() if f.converter or f.validator or type(f.default) is _FACTORY]
    return fields, [name for name, f in fields.items() if not f.kw_only], defaults, judging


def _filled(cls: Any, one: Any, /, *given: Any, **named: Any) -> None:
    """Do once what the ``__init__`` of a class would."""
    fields, places, defaults, judging = _asked(cls)
    values = {**defaults, **dict(zip(places, given, strict=False)), **named}
    twice = len(given) > len(places) or not named.keys().isdisjoint(places[: len(given)])
    if twice or values.keys() != fields.keys():
        _written(cls)(one, *given, **named)  # it says what is wrong
    for field in judging:
        value = values[field.name]
        value = value.factory() if type(value) is _FACTORY else value
        values[field.name] = field.converter(value) if field.converter else value
    _set(one, "__dict__", values)
    for field in judging if not attrs.validators.get_disabled() else ():
        if field.validator:
            field.validator(one, field, values[field.name])
    if hasattr(cls, "__attrs_post_init__"):
        one.__attrs_post_init__()


def _written(cls: Any) -> Any:
    """Return the ``__init__`` that attrs writes for the fields of a class."""
    fields, after = [*attrs.fields(cls)], "__attrs_post_init__"
    bare = type(cls.__name__, (), {after: getattr(cls, after)} if hasattr(cls, after) else {})
    like: Any = attrs.frozen(bare, slots=False, eq=False, repr=False, field_transformer=lambda *_: fields)
    made = like.__init__
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    return made


if TYPE_CHECKING:
    from attrs import define, frozen  # what type checkers know
else:

    def frozen(cls: Any = None, /, **options: Any) -> Any:
        """Make a class as ``attrs.frozen`` does: its values are equal when all they hold is, and stay as made."""
        return _made(cls, {"frozen": True, **options})

    def define(cls: Any = None, /, **options: Any) -> Any:
        """Make a class as ``attrs.define`` does: its values may change, and are no keys of a dictionary for that."""
        return _made(cls, {"frozen": False, **options})


def _made(cls: Any, options: dict[str, Any]) -> Any:
    """Give a class the shared methods, but for those that it has itself or does not want, and the rest when needed."""
    if cls is None:
        return partial(_made, options=options)
    methods = ("__repr__", _text), ("__eq__", _equal), ("__hash__", _hash if options["frozen"] else None)
    for name, method in methods[: 3 if options.get("eq", True) else 1]:
        setattr(cls, name, cls.__dict__.get(name) or method)
    like = partial(attrs.define, **{"slots": False, **options, "eq": False, "repr": False})
    if "__init__" in cls.__dict__ or "slots" in options:
        return like(cls)
    for name in ("__init__", "__attrs_attrs__", "__match_args__"):
        setattr(cls, name, _Late(cls, name, like))
    return cls


class _Late:
    """Stands where attrs puts what it finds out of a class, until somebody asks: of half the classes nobody does."""

    def __init__(self, owner: Any, name: str, like: Any) -> None:
        self._owner, self._name, self._like = owner, name, like

    def __get__(self, one: Any, cls: Any) -> Any:
        with _ONE:
            if self._owner.__dict__[self._name] is self:
                _settle(self._owner, self._like)
        found = self._owner.__dict__[self._name]
        return found.__get__(one, cls) if hasattr(found, "__get__") else found


class _Found(Exception):
    """Ends what attrs does with a class, once it knows the fields."""


class _Fields(tuple[Any, ...]):
    def __getattr__(self, name: str) -> Any:
        return getattr(SimpleNamespace(**{one.name: one for one in self}), name)


def _settle(cls: Any, like: Any) -> None:
    """Have attrs find the fields of a class, and no more: what it would write besides, the class has, or gets late."""

    def found(_: type, fields: list[Any]) -> list[Any]:
        raise _Found(*fields)

    try:
        like(cls, field_transformer=found)
    except _Found as ended:
        fields = _Fields(ended.args)
    for one in fields:
        _set(one, "alias", one.alias or one.name.lstrip("_"))
        if one.name in vars(cls):
            delattr(cls, one.name)
    if like.keywords["frozen"]:
        cls.__setattr__, cls.__delattr__ = _FROZEN.__setattr__, _FROZEN.__delattr__
    elif any(one.validator or one.converter or one.on_setattr for one in fields):  # they judge what is set later, too
        cls.__setattr__ = like(type("_", (), {}), field_transformer=lambda *_: fields).__setattr__
    cls.__attrs_attrs__ = fields
    type.__setattr__(cls, "__match_args__", tuple(one.name for one in fields if one.init and not one.kw_only))
    odd = any(
        not f.init or f.alias != f.name or hasattr(cls, f.name) or getattr(f.default, "takes_self", 0) for f in fields
    )
    cls.__init__ = _written(cls) if odd else _Init(cls)
