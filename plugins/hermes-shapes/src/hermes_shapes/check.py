"""Everything that is wrong with a mapping, in plain words; by cattrs: imported only when it is needed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, get_args, get_origin

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

from hermes_shapes.build import NAMES, Keys, Problem, Refused, build, is_either, is_text, nearest, types_of
from hermes_shapes.describe import in_words, limits, validators

__all__ = ["check"]

Hook: TypeAlias = Callable[[Any, Any], Any]
Elsewhere: TypeAlias = Callable[[type, Keys], tuple[Sequence[str], str]]

_LIMITS = {
    "minimum": "must be at least {}, not {}",
    "exclusiveMinimum": "must be more than {}, not {}",
    "maximum": "must be at most {}, not {}",
    "exclusiveMaximum": "must be less than {}, not {}",
    "enum": "must be one of {}",
    "pattern": "does not have the right form (pattern {})",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
}


def check(
    cls: Any, data: Any, keys: Keys = (), *, elsewhere: Elsewhere = lambda _cls, _keys: ((), "")
) -> tuple[Any, list[Problem]]:
    """The object, or None and every problem, each under ``keys``.

    ``elsewhere`` tells which names may stand in a class's place that are none of its own, and who in words has more of
    them: a name that is wrong is compared with these, too.
    """
    try:
        return _converter().structure(data, cls), []
    except Exception as error:  # noqa: BLE001 - a validator may raise anything
        return None, list(dict.fromkeys(_problems(error, keys, elsewhere)))


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    register = converter.register_structure_hook_factory
    register(attrs.has, lambda cls: _class_hook(cls, converter))
    register(is_mapping, lambda kind: _shaped(dict, mapping_structure_factory(kind, converter)))
    register(is_sequence, lambda kind: _shaped(list, list_structure_factory(kind, converter)))
    register(_is_tuple, lambda kind: _shaped(list, homogenous_tuple_structure_factory(kind, converter)))
    register(is_either, lambda _: _leaf)
    register(lambda kind: str(get_origin(kind)) == str(Literal), lambda _: _leaf)
    converter.register_structure_hook_func(is_text, _leaf)
    for kind in NAMES:
        converter.register_structure_hook(kind, _leaf)
    return converter


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _leaf(value: Any, kind: Any) -> Any:
    try:
        return build(kind, value)
    except Refused:
        raise ValueError(_refusal(value, kind)) from None


def _shaped(shape: type, hook: Hook) -> Hook:
    def structure(value: Any, kind: Any) -> Any:
        if not isinstance(value, shape):
            raise ValueError(_refusal(value, shape))
        return hook(value, kind)

    return structure


def _refusal(value: Any, kind: Any) -> str:
    if choices := get_args(kind):
        close = nearest(value, [str(choice) for choice in choices if choice]) if isinstance(value, str) else ""
        return f"must be one of {in_words(kind)}" + (f"; did you mean {close}?" if close else "")
    hint = ""
    if is_text(kind) and isinstance(value, bool):
        hint = " (YAML reads a bare yes, no, on and off so; put it in quotes)"
    elif is_text(kind) and isinstance(value, int | float):
        hint = " (put it in quotes)"
    elif kind in (int, float, bool) and isinstance(value, str) and (value.isdigit() or value in ("true", "false")):
        hint = " (take the quotes away)"
    return f"must be {'text' if is_text(kind) else NAMES[kind]}, not {_said(value, kind)}{hint}"


def _said(value: Any, kind: Any = None) -> str:
    """What the value is, but never a text: it may be a secret in the wrong place."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and (kind is str or not is_text(kind)):
        return str(value)
    return NAMES.get(type(value), type(value).__name__)


def _class_hook(cls: Any, converter: Converter) -> Hook:
    checked: dict[str, Any] = {f.name: override(struct_hook=_validated(f, converter)) for f in types_of(cls)}
    hook = _shaped(dict, make_dict_structure_fn(cls, converter, **checked))
    return lambda value, kind: hook({} if value is None else value, kind)


def _validated(field: "attrs.Attribute[Any]", converter: Converter) -> Hook:
    """Run a field's validators at once, so that their complaint does not wait until all other fields are right."""

    def structure(value: Any, kind: Any) -> Any:
        made = converter.structure(value, kind)
        for part in validators(field):
            try:
                part(None, field, made)
            except AttributeError:
                pass  # it looks at the whole object: asked again when that is made
            except (ValueError, TypeError) as error:
                raise ValueError(_plain(part, made) or _words(error)) from error
        return made

    return structure


def _plain(validator: Any, value: Any) -> str:
    """A validator's complaint without Python in it; empty for one that is not known."""
    for key, limit in limits(validator, many=not isinstance(value, str)).items():
        return _LIMITS[key].format(", ".join(map(str, limit)) if key == "enum" else limit, _said(value))
    return ""


def _words(error: BaseException) -> str:
    return str(error.args[0]) if error.args else type(error).__name__


def _problems(error: BaseException, keys: Keys, elsewhere: Elsewhere) -> Iterator[Problem]:
    if isinstance(error, ClassValidationError | IterableValidationError):
        noted, others = error.group_exceptions()
        for part, note in noted:
            step = note.name if isinstance(note, AttributeValidationNote) else note.index
            below, missing = (*keys, step), isinstance(part, KeyError)
            yield from [Problem(below, "is required")] if missing else _problems(part, below, elsewhere)
        for part in others:
            yield from _problems(part, keys, elsewhere)
    elif isinstance(error, ForbiddenExtraKeysError):
        names, others_have = elsewhere(error.cl, keys)
        known = [*(field.name for field in types_of(error.cl)), *names]
        for name in sorted(error.extra_fields):
            close = nearest(name, known)
            there = f"did you mean {close}?" if close else f"there is {', '.join(known)}{others_have}"
            yield Problem((*keys, name), f"no such setting; {there}")
    elif isinstance(error, StructureHandlerNotFoundError):
        yield Problem(keys, "its class asks for something that a settings file cannot hold")
    else:
        yield Problem(keys, _words(error))
