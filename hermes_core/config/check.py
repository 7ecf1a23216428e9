"""Everything that is wrong with a mapping, in plain words; by cattrs, which is imported only when it is needed."""

from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

import attrs
from cattrs import AttributeValidationNote, ClassValidationError, Converter, IterableValidationError
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_mapping,
    is_sequence,
    list_structure_factory,
    mapping_structure_factory,
)
from cattrs.errors import ForbiddenExtraKeysError, StructureHandlerNotFoundError
from cattrs.gen import make_dict_structure_fn, override
from cattrs.strategies import configure_union_passthrough

from hermes_core.config.build import Refused, choose, scalar, types_of
from hermes_core.config.schema import PLUGIN_SPACES, Config
from hermes_core.errors import nearest
from hermes_core.options import Secret

Keys: TypeAlias = tuple[str | int, ...]
Hook: TypeAlias = Callable[[Any, Any], Any]

_NAMES = {str: "text", Secret: "text", int: "a whole number", float: "a number", bool: "true or false"}
_NAMES |= {NoneType: "empty", list: "a list", dict: "a section"}
_BOUNDS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}


class Problem(NamedTuple):
    """One thing that is wrong, and the keys that lead to it."""

    keys: Keys
    text: str

    @property
    def path(self) -> str:
        """The keys as people write them: ``platforms.telegram.chats[2]``."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).lstrip(".")


def check(cls: Any, data: Any, keys: Keys) -> tuple[Any, list[Problem]]:
    """The object, or None and every problem, each under ``keys``."""
    try:
        return _converter().structure(data, cls), []
    except Exception as error:  # noqa: BLE001 - a plugin's validator may raise anything
        return None, list(dict.fromkeys(_problems(error, keys)))


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    configure_union_passthrough(str | int | float | bool | None, converter, accept_ints_as_floats=True)
    for kind in (str, int, float, bool, Secret):
        converter.register_structure_hook(kind, _scalar)
    register = converter.register_structure_hook_factory
    register(attrs.has, lambda cls: _class_hook(cls, converter))
    register(is_mapping, lambda kind: _shaped(dict, mapping_structure_factory(kind, converter)))
    register(is_sequence, lambda kind: _shaped(list, _items(kind)(kind, converter)))
    register(lambda kind: str(get_origin(kind)) == str(Literal), lambda _: _choose)
    return converter


def _items(kind: Any) -> Callable[..., Any]:
    return list_structure_factory if get_origin(kind) is list else homogenous_tuple_structure_factory


def _scalar(value: Any, kind: Any) -> Any:
    try:
        return scalar(value, kind)
    except Refused:
        raise ValueError(f"must be {_NAMES[kind]}, not {_said(value, kind)}{_quoting(value, kind)}") from None


def _said(value: Any, kind: Any = None) -> str:
    """What the value is, but never a text: it may be a secret in the wrong place."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and kind is not Secret:
        return str(value)
    return _NAMES.get(type(value), type(value).__name__)


def _quoting(value: Any, kind: Any) -> str:
    if kind in (str, Secret) and isinstance(value, bool):
        return " (YAML reads a bare yes, no, on and off so; put it in quotes)"
    if kind in (str, Secret) and isinstance(value, int | float):
        return " (put it in quotes)"
    bare = isinstance(value, str) and (value.isdigit() or value in ("true", "false"))
    return " (take the quotes away)" if bare else ""


def _choose(value: Any, kind: Any) -> Any:
    choices = get_args(kind)
    try:
        return choose(value, choices)
    except Refused:
        close = nearest(value, [choice for choice in choices if choice]) if isinstance(value, str) else ""
        listed = ", ".join(str(choice) or '""' for choice in choices)
        raise ValueError(f"must be one of {listed}" + (f"; did you mean {close}?" if close else "")) from None


def _shaped(shape: type, hook: Callable[..., Any]) -> Hook:
    def structure(value: Any, kind: Any) -> Any:
        if not isinstance(value, shape):
            raise ValueError(f"must be {_NAMES[shape]}, not {_said(value)}")
        return hook(value, kind)

    return structure


def _class_hook(cls: Any, converter: Converter) -> Hook:
    checked: dict[str, Any] = {f.name: override(struct_hook=_validated(f, converter)) for f in types_of(cls)}
    hook = _shaped(dict, make_dict_structure_fn(cls, converter, **checked))
    return lambda value, kind: hook({} if value is None else value, kind)


def _validated(field: "attrs.Attribute[Any]", converter: Converter) -> Hook:
    """Run a field's validator at once, so that its complaint does not wait until all other fields are right."""

    def structure(value: Any, kind: Any) -> Any:
        made = converter.structure(value, kind)
        try:
            if field.validator is not None:
                field.validator(None, field, made)
        except AttributeError:
            pass  # it looks at the whole object: asked again when that is made
        except (ValueError, TypeError) as error:
            raise ValueError(_plain(field, made, error)) from error
        return made

    return structure


def _plain(field: "attrs.Attribute[Any]", value: Any, error: Exception) -> str:
    """A validator's complaint without Python in it."""
    outer: Any = field.validator
    for part in (outer, getattr(outer, "validator", None), *getattr(outer, "_validators", ())):
        if hasattr(part, "compare_op") and not part.compare_func(value, part.bound):
            return f"must be {_BOUNDS[part.compare_op]} {part.bound}, not {_said(value)}"
        if hasattr(part, "options") and value not in part.options:
            return f"must be one of {', '.join(map(str, part.options))}"
        if hasattr(part, "pattern") and not part.match_func(value):
            return f"does not have the right form (pattern {part.pattern.pattern})"
        if hasattr(part, "min_length") and len(value) < part.min_length:
            return f"must have at least {part.min_length} characters or items"
        if hasattr(part, "max_length") and len(value) > part.max_length:
            return f"must have at most {part.max_length} characters or items"
    return str(error.args[0]) if error.args else type(error).__name__


def _problems(error: BaseException, keys: Keys) -> Iterator[Problem]:
    if isinstance(error, ClassValidationError | IterableValidationError):
        for part, note in error.group_exceptions()[0]:
            step = note.name if isinstance(note, AttributeValidationNote) else note.index
            if isinstance(part, KeyError):
                yield Problem((*keys, step), "is required")
            else:
                yield from _problems(part, (*keys, step))
        for part in error.group_exceptions()[1]:
            yield from _problems(part, keys)
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [f.name for f in types_of(error.cl)] + [*PLUGIN_SPACES] * (error.cl is Config)
        for name in sorted(error.extra_fields):
            close = nearest(name, known)
            there = f"did you mean {close}?" if close else f"there is {', '.join(known)}"
            yield Problem((*keys, name), f"no such setting; {there}")
    elif isinstance(error, StructureHandlerNotFoundError):
        yield Problem(keys, "its class asks for something that a settings file cannot hold")
    else:
        yield Problem(keys, str(error.args[0]) if error.args else type(error).__name__)
