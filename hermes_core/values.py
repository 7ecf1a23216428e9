"""Classes of attrs that are quick to import: they share their methods, and each has its ``__init__`` when it is used.

attrs writes and compiles these methods for every class, which is most of what importing a class costs. Every start of a
program imports two hundred and makes values of half of them. They behave as those of attrs.
"""

from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import attrs
from attrs import NOTHING

__all__ = ["define", "frozen"]

_FEW = 8  # values of a class; for more attrs writes its ``__init__``
_FACTORY: Any = type(attrs.Factory(list))
_FIELD: Any = type(attrs.field())
_STILL: Any = attrs.frozen(type("Still", (), {}))
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
    body, still = dict(cls.__dict__), make is attrs.frozen
    names = [name for name, kind in body.get("__annotations__", {}).items() if "ClassVar" not in str(kind)]
    given = {name: body.pop(name) for name in names if name in body}
    if not _simple(cls, body, still, given) or options.keys() - {"kw_only"}:
        return make(cls, eq=False, repr=False, **options)
    above = cls.__mro__[1:-1]
    has = {"__dict__", *(slot for base in above for slot in getattr(base, "__slots__", ()))}
    if any("__weakref__" in base.__dict__ for base in above):
        has.add("__weakref__")
    body = {name: value for name, value in body.items() if name not in ("__dict__", "__weakref__")}
    if still:
        body |= {"__setattr__": _STILL.__setattr__, "__delattr__": _STILL.__delattr__, "__attrs_own_setattr__": True}
    if not body.keys() & {"__getstate__", "__setstate__"}:
        body |= {"__getstate__": _state, "__setstate__": _restore}
    later = {name: _Late(given, options) for name in ("__attrs_attrs__", "__match_args__") if name not in body}
    slots = tuple(name for name in (*names, "__weakref__") if name not in has)
    return type(cls)(cls.__name__, cls.__bases__, {**body, **later, "__init__": _Init(), "__slots__": slots})


def _simple(cls: Any, body: dict[str, Any], still: bool, given: dict[str, Any]) -> bool:
    """Tell whether a class needs nothing more of attrs than that its fields are found."""
    if body.keys() & {"__init__", "__slots__", "__setattr__", "__delattr__", "__attrs_pre_init__"}:
        return False
    if not still and (cls.__setattr__ is not _set or any(isinstance(value, _FIELD) for value in given.values())):
        return False  # those of a class that may change are judged again when they are set
    functions = (getattr(value, "fget", None) or getattr(value, "__func__", value) for value in body.values())
    codes = (getattr(function, "__code__", None) for function in functions)
    return not any(isinstance(value, (_FIELD, cached_property)) for value in body.values()) and not any(
        code and "__class__" in code.co_freevars
        for code in codes  # it would be that of the class before the slots
    )


class _Late:
    """Stands where attrs keeps what it found out of a class, until somebody asks: of most classes nobody does."""

    def __init__(self, given: dict[str, Any], options: dict[str, Any]) -> None:
        self._given, self._options = given, options

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, one: Any, cls: Any) -> Any:
        owner, hidden = self._owner, []

        def all_fields(_: type, own: list[Any]) -> list[Any]:
            """Put those of the classes above first. They are shown as no arguments: attrs writes nothing for them."""
            names = {field.name for field in own}
            above: dict[str, Any] = {}
            for base in reversed(owner.__mro__[1:-1]):
                for field in getattr(base, "__attrs_attrs__", ()):
                    if not field.inherited and field.name not in names:
                        above.pop(field.name, None)
                        above[field.name] = field.evolve(inherited=True)
            fields = [*above.values(), *own]
            for field in fields:
                hidden.append((field, field.init, field.default))
                _set(field, "init", False)
                _set(field, "default", NOTHING)
            return fields

        body = {"__annotations__": owner.__annotations__, "__module__": owner.__module__, **self._given}
        like = type(owner.__name__, (), body)
        found = attrs.fields(
            attrs.frozen(like, eq=False, repr=False, slots=False, field_transformer=all_fields, **self._options)
        )
        for field, init, default in hidden:
            _set(field, "init", init)
            _set(field, "default", default)
        if isinstance(owner.__dict__.get("__match_args__"), _Late):
            places = tuple(field.name for field in found if field.init and not field.kw_only)
            type.__setattr__(owner, "__match_args__", places)
        owner.__attrs_attrs__ = found
        return getattr(owner, self._name)


def _state(self: Any) -> dict[str, Any]:
    return {field.name: getattr(self, field.name) for field in attrs.fields(self.__class__)}


def _restore(self: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        _set(self, name, value)
