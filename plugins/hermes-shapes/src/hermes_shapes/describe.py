"""What a class of options takes, for editors, documentation and people; all of it from the class."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import attrs

from hermes_shapes.build import NAMES, is_text, types_of

__all__ = ["Row", "in_words", "json_schema", "limits", "settings_rows", "type_schema", "validators"]

_LISTS: tuple[Any, ...] = (list, tuple, Sequence)
_TYPES: dict[Any, str] = {int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_TYPES |= {**dict.fromkeys(_LISTS, "array"), dict: "object", Mapping: "object"}
_BOUNDS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


class Row(NamedTuple):
    """One setting: its dotted key, type in words, default (attrs.NOTHING: it must be given), help, and JSON Schema."""

    key: str
    type: str
    default: Any
    help: str
    schema: Mapping[str, Any]


def json_schema(cls: Any) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a class of options."""
    fields = types_of(cls)
    schema: dict[str, Any] = {"type": "object", "properties": {f.name: _property(f) for f in fields}}
    required = [f.name for f in fields if f.default is attrs.NOTHING]
    return schema | ({"required": required} if required else {}) | {"additionalProperties": False}


@cache  # a home has a thousand, and whoever sets one reads them all
def settings_rows(cls: Any, path: str = "", *, named: bool = False) -> tuple[Row, ...]:
    """Every setting of a class and of the classes in it, in order.

    ``named`` adds those under names a person chooses, as ``providers.NAME.base_url``: for docs, not for values.
    """
    rows: list[Row] = []
    for field in types_of(cls):
        key = f"{path}.{field.name}" if path else field.name
        if field.type and attrs.has(field.type):
            rows += settings_rows(field.type, key, named=named)
            continue
        help_text = field.metadata.get("help", "")
        rows.append(Row(key, in_words(field.type), _default(field), help_text, _property(field)))
        inner = get_args(field.type)
        if named and get_origin(field.type) is dict and attrs.has(inner[1]):
            rows += settings_rows(inner[1], f"{key}.NAME", named=True)
    return tuple(rows)


def validators(field: "attrs.Attribute[Any]") -> Sequence[Any]:
    """A field's validators, one by one."""
    found: Sequence[Any] = getattr(field.validator, "_validators", (field.validator,) if field.validator else ())
    return found


def limits(validator: Any, *, many: bool) -> dict[str, Any]:
    """What an attrs validator says, as JSON Schema; ``many`` for one of a list."""
    part, size = getattr(validator, "validator", validator), "Items" if many else "Length"
    if hasattr(part, "compare_op"):
        return {_BOUNDS[part.compare_op]: part.bound}
    if hasattr(part, "min_length"):
        return {f"min{size}": part.min_length}
    if hasattr(part, "max_length"):
        return {f"max{size}": part.max_length}
    if hasattr(part, "pattern"):
        return {"pattern": f"^(?:{part.pattern.pattern})$"}
    return {"enum": list(part.options)} if hasattr(part, "options") else {}


def _property(field: "attrs.Attribute[Any]") -> dict[str, Any]:
    schema = type_schema(field.type)
    for part in validators(field):
        schema |= limits(part, many=schema.get("type") == "array")
    default, example = _default(field), field.metadata.get("example")
    if help_text := field.metadata.get("help"):
        schema["description"] = help_text
    if field.metadata.get("ids"):  # they are numbers on some services, and one may stand alone
        ids = {"type": ["array", "string", "integer"], "items": {"type": ["string", "integer"]}}
        schema |= {"additionalProperties": ids} if schema["type"] == "object" else ids
    if default is not attrs.NOTHING and not attrs.has(type(default)):
        schema["default"] = default
    return schema if example is None else {**schema, "examples": [example]}


def type_schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type that a field may have."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if attrs.has(origin):
        return json_schema(origin)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        parts = [type_schema(part) for part in inner]
        plain = all(set(part) == {"type"} for part in parts)
        return {"type": [part["type"] for part in parts]} if plain else {"anyOf": parts}
    name = "string" if is_text(origin) else _TYPES.get(origin)
    schema: dict[str, Any] = {"type": name} if name else {}
    if inner:
        word, of = ("items", inner[0]) if origin in _LISTS else ("additionalProperties", inner[-1])
        schema[word] = type_schema(of) or True
    return schema


def in_words(kind: Any) -> str:
    """A type for a person."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        return ", ".join(str(choice) or '""' for choice in inner)
    if origin in (Union, UnionType):
        return " or ".join(in_words(part) for part in inner)
    if origin is list and inner:
        return f"list of {in_words(inner[0])}"
    if is_text(origin) and origin is not str:
        return str(origin.__name__)
    return "section" if attrs.has(origin) else NAMES.get(origin, "anything").removeprefix("a ")


def _default(field: "attrs.Attribute[Any]") -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return attrs.NOTHING if default.takes_self else default.factory()
    return default
