"""A plain function as something that a model may call: the JSON Schema of its parameters, and the values they get.

Understood are str, int, float, bool, None, Any, Literal, Enum, date, time, datetime, Path, UUID, lists, tuples, sets,
dicts with text as keys, unions, attrs classes, dataclasses, TypedDict and pydantic models, also within each other. What
the docstring says of a parameter (``Args:`` as Google writes it, or ``:param name:``) describes it, as does a text in
``Annotated``.
"""

import dataclasses
import enum
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import attrs

__all__ = ["Function", "function_of"]

JSON: TypeAlias = Any

_SCALARS: dict[Any, dict[str, str]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Path: {"type": "string"},
    UUID: {"type": "string", "format": "uuid"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    datetime: {"type": "string", "format": "date-time"},
}
_READ: dict[Any, Callable[[str], Any]] = {
    Path: Path,
    UUID: UUID,
    date: date.fromisoformat,
    time: time.fromisoformat,
    datetime: datetime.fromisoformat,
}
_LISTS = {list: list, tuple: tuple, set: set, frozenset: frozenset, Sequence: list, AbstractSet: set}
_ARGS = re.compile(r"^(?:Args|Arguments|Parameters):\s*$", re.MULTILINE)
_SECTION = re.compile(r"^(?:Returns|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
_ONE = re.compile(r"^ {2,}(\*{0,2}\w+)(?: \([^)]*\))?: ?(.*(?:\n {5,}.*)*)", re.MULTILINE)
_FIELD = re.compile(r"^:param (?:[\w\[\], |.]+ )?(\w+): ?(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_FIELDS = re.compile(r"^:(?:param|type|returns?|rtype|raises)\b.*(?:\n[ \t]+.*)*", re.MULTILINE)


class Function(NamedTuple):
    """What a model is told of a function, and how what it gives becomes arguments; ``context`` names all others."""

    name: str
    description: str
    schema: dict[str, JSON]
    values: Callable[[Mapping[str, JSON]], dict[str, Any]]
    context: tuple[str, ...]


def function_of(function: Callable[..., Any], *, context: type | tuple[type, ...] | None = None) -> Function:
    """Look at a function.

    Args:
        function: What may be called by names: no ``*args``, and no parameters that only stand by place.
        context: Classes whose instances the caller gives: parameters of them are no part of the schema.

    Raises:
        TypeError: Every problem, a sentence each, with the name of the parameter.
    """
    name = getattr(function, "__name__", "function")
    described, told = _told(inspect.getdoc(function) or "")
    problems = [] if described else ["it has no docstring, which is what the model reads"]
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise TypeError(f"{name}: its annotations cannot be read: {error}") from error
    properties: dict[str, JSON] = {}
    required, given, kinds = [], [], {}
    for one in inspect.signature(function).parameters.values():
        kind = hints.get(one.name)
        plain = get_origin(kind) or kind
        if context is not None and isinstance(plain, type) and issubclass(plain, context):
            given.append(one.name)
            continue
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            problems.append(f"parameter {one.name} cannot be given by name")
            continue
        if kind is None:
            problems.append(f"parameter {one.name} has no annotation")
            continue
        try:
            properties[one.name] = _described(schema_of(kind), told.get(one.name, ""), one.default)
        except TypeError as error:
            problems.append(f"parameter {one.name}: {error}")
        kinds[one.name] = kind
        if one.default is one.empty:
            required.append(one.name)
    problems += [
        f"the docstring describes {one}, which is no parameter"
        for one in told
        if one not in kinds and one not in given and not problems
    ]
    if problems:
        raise TypeError(f"{name}: {'; '.join(problems)}")

    def values(found: Mapping[str, JSON]) -> dict[str, Any]:
        return {one: value_of(kinds[one], value) for one, value in found.items()}

    schema: dict[str, JSON] = {"type": "object", "properties": properties, "additionalProperties": False}
    return Function(name, described, {**schema, "required": required} if required else schema, values, tuple(given))


def schema_of(kind: Any, above: tuple[Any, ...] = ()) -> dict[str, JSON]:
    """Give the JSON Schema of a type. Raises TypeError for one that has none; ``above`` are those it stands in."""
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        text = next((note for note in notes if isinstance(note, str)), "")
        return _described(schema_of(inner, above), text, inspect.Parameter.empty)
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if kind is Any or kind is object:
        return {}
    if origin is Literal:
        texts = {"type": "string"} if all(isinstance(one, str) for one in inner) else {}
        return {**texts, "enum": list(inner)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        choices = [one.value for one in kind]
        return {**({"type": "string"} if all(isinstance(one, str) for one in choices) else {}), "enum": choices}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(one, above) for one in inner]}
    if origin in _LISTS or origin in (dict, Mapping):
        return _holder(kind, origin, inner, above)
    return _record(kind, above)


def _holder(kind: Any, origin: Any, inner: tuple[Any, ...], above: tuple[Any, ...]) -> dict[str, JSON]:
    if origin in _LISTS:
        if origin is tuple and inner and inner[-1] is not Ellipsis:
            raise TypeError(f"{kind} has places of their own; take a class with names, or tuple[T, ...]")
        unique = {"uniqueItems": True} if _LISTS[origin] in (set, frozenset) else {}
        return {"type": "array", **({"items": schema_of(inner[0], above)} if inner else {}), **unique}
    if inner and inner[0] is not str:
        raise TypeError(f"{kind} has other keys than text")
    values = schema_of(inner[1], above) if inner else {}
    return {"type": "object", **({"additionalProperties": values} if values else {})}


def _record(kind: Any, above: tuple[Any, ...]) -> dict[str, JSON]:
    if kind in above:
        raise TypeError(f"{kind.__name__} holds itself")
    if hasattr(kind, "model_json_schema"):
        made: dict[str, JSON] = kind.model_json_schema()
        if "$defs" in made and above:
            raise TypeError(f"{kind.__name__} is a model with others in it; take it as the parameter itself")
        return made
    if (fields := _fields(kind)) is not None:
        properties = {name: schema_of(field.kind, (*above, kind)) for name, field in fields.items()}
        required = [name for name, field in fields.items() if field.needed]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}
    raise TypeError(f"{getattr(kind, '__name__', kind)} has no JSON Schema")


def value_of(kind: Any, value: JSON) -> Any:
    """Give what fits a type's schema as a value of that type. Raises ValueError, or what the class raises."""
    if get_origin(kind) is Annotated:
        return value_of(get_args(kind)[0], value)
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind in _READ:
        return _READ[kind](value)
    if kind in (int, float):
        return kind(value)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if origin in (Union, UnionType):
        return _of_union(inner, value)
    if origin in _LISTS:
        return _LISTS[origin](value_of(inner[0], one) for one in value) if inner else _LISTS[origin](value)
    if origin in (dict, Mapping):
        return {name: value_of(inner[1], one) for name, one in value.items()} if inner else dict(value)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    if (fields := _fields(kind)) is not None:
        made = {fields[name].alias: value_of(fields[name].kind, one) for name, one in value.items() if name in fields}
        return kind(**made)
    return value


def _of_union(kinds: Sequence[Any], value: JSON) -> Any:
    from hermes_shapes.schema import misfits

    problem: Exception | None = None
    for kind in kinds:
        schema = schema_of(kind)
        if any(misfits(schema, value, schema)):
            continue
        try:
            return value_of(kind, value)
        except (ValueError, TypeError) as error:  # another of them may take it
            problem = error
    raise problem or ValueError(f"{value!r} is none of what is taken")


class _Field(NamedTuple):
    kind: Any
    needed: bool
    alias: str


def _fields(kind: Any) -> dict[str, _Field] | None:
    """Give the fields of an attrs class, a dataclass or a TypedDict; None for anything else."""
    if not isinstance(kind, type):
        return None
    if attrs.has(kind):
        hints = get_type_hints(kind, include_extras=True)
        found = [one for one in attrs.fields(kind) if one.init]
        return {one.name: _Field(hints[one.name], one.default is attrs.NOTHING, one.alias or one.name) for one in found}
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            one.name: _Field(
                hints[one.name],
                one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING,
                one.name,
            )
            for one in dataclasses.fields(kind)
            if one.init
        }
    if typing.is_typeddict(kind):
        hints = get_type_hints(kind)
        needed = getattr(kind, "__required_keys__", frozenset(hints))
        return {name: _Field(one, name in needed, name) for name, one in hints.items()}
    return None


def _described(schema: dict[str, JSON], text: str, default: Any) -> dict[str, JSON]:
    if text and "description" not in schema:
        schema = {**schema, "description": text}
    if isinstance(default, str | int | float) and not isinstance(default, enum.Enum) and default:
        schema = {**schema, "default": default}
    return schema


def _told(doc: str) -> tuple[str, dict[str, str]]:
    """Take a docstring apart: what the function does, and what it says of each parameter."""
    found = {one[1]: _line(one[2]) for one in _FIELD.finditer(doc)}
    doc = _FIELDS.sub("", doc)
    if begins := _ARGS.search(doc):
        ends = _SECTION.search(doc, begins.end())
        section = doc[begins.end() : ends.start() if ends else None]
        rest = re.search(r"\n\n(?! )", section)
        after = (section[rest.end() :] if rest else "") + (doc[ends.start() :] if ends else "")
        found |= {one[1].lstrip("*"): _line(one[2]) for one in _ONE.finditer(section[: rest.start() if rest else None])}
        doc = doc[: begins.start()] + after
    return re.sub(r"\n{3,}", "\n\n", doc).strip(), found


def _line(text: str) -> str:
    return " ".join(text.split())
