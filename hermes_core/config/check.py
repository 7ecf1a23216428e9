"""Everything that is wrong with a mapping, in plain words; by cattrs, which is imported only when it is needed."""

from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import attrs
from cattrs import (
    AttributeValidationNote,
    ClassValidationError,
    Converter,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.cols import is_mapping, list_structure_factory, mapping_structure_factory
from cattrs.errors import ForbiddenExtraKeysError, StructureHandlerNotFoundError
from cattrs.gen import make_dict_structure_fn, override

from hermes_core.config.build import SWITCH, types_of
from hermes_core.config.schema import PLUGIN_SPACES, Config
from hermes_core.errors import nearest
from hermes_core.options import Secret

_NAMES = {
    str: "text",
    Secret: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "empty",
    list: "a list",
    dict: "a section",
}


class Problem(NamedTuple):
    """One thing that is wrong, and the keys that lead to it."""

    keys: tuple[str | int, ...]
    text: str

    @property
    def path(self) -> str:
        """The keys as people write them: ``platforms.telegram.chats[2]``."""
        steps = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys)
        return "".join(steps).lstrip(".")


def check(cls: Any, data: Any, keys: tuple[str | int, ...]) -> tuple[Any, list[Problem]]:
    """The object, or None and every problem in the order of the class."""
    try:
        return _converter().structure(data, cls), []
    except Exception as error:  # noqa: BLE001 - a plugin's validator may raise anything
        return None, list(dict.fromkeys(_problems(error, cls, keys)))


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind in (str, int, float, bool, NoneType, Secret):
        converter.register_structure_hook(kind, _scalar)
    register = converter.register_structure_hook_factory
    register(attrs.has, lambda cls: _class_hook(cls, converter))
    register(is_mapping, lambda kind: _shaped(dict, mapping_structure_factory(kind, converter)))
    register(_is_sequence, lambda kind: _sequence_hook(kind, converter))
    register(lambda kind: _origin(kind) is Literal, lambda kind: _choose)
    register(lambda kind: _origin(kind) in (Union, UnionType), lambda kind: _union_hook(kind, converter))
    return converter


def _origin(kind: Any) -> Any:
    return get_origin(kind)


def _scalar(value: Any, kind: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    if type(value) is not kind:
        raise ValueError(f"must be {_NAMES[kind]}, not {_said(value, kind)}{_quoting(value, kind)}")
    return value


def _said(value: Any, kind: Any = None) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "text"  # never the text itself: it may be a secret in the wrong place
    if isinstance(value, int | float):
        return "a number" if kind is Secret else f"{value}"
    return _NAMES.get(type(value), type(value).__name__)


def _quoting(value: Any, kind: Any) -> str:
    if kind in (str, Secret) and isinstance(value, bool):
        return " (YAML reads a bare yes, no, on and off so; put it in quotes)"
    if kind in (str, Secret) and value is not None and not isinstance(value, list | dict):
        return " (put it in quotes)"
    if kind in (int, float, bool) and isinstance(value, str) and (value.isdigit() or value in ("true", "false")):
        return " (take the quotes away)"
    return ""


def _choose(value: Any, kind: Any) -> Any:
    choices = get_args(kind)
    for candidate in (value, SWITCH[value] if isinstance(value, bool) else value):
        if any(type(candidate) is type(choice) and candidate == choice for choice in choices):
            return candidate
    close = nearest(value, [choice for choice in choices if choice]) if isinstance(value, str) else ""
    listed = ", ".join(str(choice) or '""' for choice in choices)
    raise ValueError(f"must be one of {listed}" + (f"; did you mean {close}?" if close else ""))


def _is_sequence(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (list, tuple, set, frozenset) or (
        getattr(get_origin(kind), "__name__", "") in ("Sequence", "Collection")
    )


def _sequence_hook(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    make = get_origin(kind) or kind
    inner = (get_args(kind) or (Any,))[0]
    items = list_structure_factory(list[inner], converter)  # type: ignore[valid-type]
    hook = _shaped(list, items)
    return lambda value, _: (make if make in (list, set, frozenset) else tuple)(hook(value, kind))


def _shaped(shape: type, hook: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def structure(value: Any, kind: Any) -> Any:
        if not isinstance(value, (list, tuple) if shape is list else shape):
            raise ValueError(f"must be {_NAMES[shape]}, not {_said(value)}")
        return hook(value, kind)

    return structure


def _union_hook(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    members = get_args(kind)
    some = [member for member in members if member is not NoneType]

    def structure(value: Any, _: Any) -> Any:
        if value is None and NoneType in members:
            return None
        for member in some[:-1]:
            try:
                return converter.structure(value, member)
            except Exception:  # noqa: BLE001, S112 - the next member may fit
                continue
        try:
            return converter.structure(value, some[-1])
        except ValueError as error:
            if len(some) == 1:
                raise
            kinds = " or ".join(_NAMES.get(get_origin(member) or member, "a section") for member in some)
            raise ValueError(f"must be {kinds}, not {_said(value)}") from error

    return structure


def _class_hook(cls: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    checked = {f.name: override(struct_hook=_validated(f, converter)) for f in types_of(cls)}
    make: Any = make_dict_structure_fn(cls, converter, **checked)  # type: ignore[arg-type]
    hook = _shaped(dict, make)
    return lambda value, kind: hook({} if value is None else value, kind)


def _validated(field: "attrs.Attribute[Any]", converter: Converter) -> Callable[[Any, Any], Any]:
    """Run a field's validator at once, so that its complaint does not wait until all other fields are right."""

    def structure(value: Any, kind: Any) -> Any:
        made = converter.structure(value, kind)
        if field.validator is not None:
            try:
                field.validator(None, field, made)
            except (ValueError, TypeError) as error:
                raise ValueError(_plain(field.validator, field, made, error)) from error
            except AttributeError:
                pass  # it looks at the whole object: asked again when that is made
        return made

    return structure


def _plain(validator: Any, field: "attrs.Attribute[Any]", value: Any, error: Exception) -> str:
    """A validator's complaint without Python in it."""
    for part in (validator, getattr(validator, "validator", None), *getattr(validator, "_validators", ())):
        bound, operator = getattr(part, "bound", None), getattr(part, "compare_op", "")
        if bound is not None and not part.compare_func(value, bound):
            words = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}
            return f"must be {words[operator]} {bound}, not {_said(value)}"
        name = type(part).__name__
        if name == "_InValidator" and value not in part.options:
            return f"must be one of {', '.join(map(str, part.options))}"
        if name == "_MatchesReValidator" and not part.match_func(value):
            return f"does not have the right form (pattern {part.pattern.pattern})"
        if name == "_MinLengthValidator" and len(value) < part.min_length:
            return f"must have at least {part.min_length} characters or items"
        if name == "_MaxLengthValidator" and len(value) > part.max_length:
            return f"must have at most {part.max_length} characters or items"
    text = str(error.args[0]) if error.args else type(error).__name__
    return text.removeprefix(f"'{field.name}' ")


def _problems(error: BaseException, kind: Any, keys: tuple[str | int, ...]) -> Iterable[Problem]:
    if isinstance(error, ClassValidationError | IterableValidationError):
        for part in error.exceptions:
            step = next(map(_step, getattr(part, "__notes__", ())), None)
            if step is not None and isinstance(part, KeyError):
                yield Problem((*keys, step), "is required")
            else:
                yield from _problems(part, error.cl, keys if step is None else (*keys, step))
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [f.name for f in types_of(error.cl)] + [*PLUGIN_SPACES] * (error.cl is Config)
        for name in sorted(error.extra_fields):
            close = nearest(name, known)
            yield Problem((*keys, name), "no such setting" + (f"; did you mean {close}?" if close else ""))
    elif isinstance(error, StructureHandlerNotFoundError):
        yield Problem(keys, f"its class asks for {kind}, which a settings file cannot hold")
    else:
        yield Problem(keys, str(error.args[0]) if error.args else type(error).__name__)


def _step(note: object) -> str | int | None:
    if isinstance(note, AttributeValidationNote):
        return note.name
    return note.index if isinstance(note, IterableValidationNote) else None
