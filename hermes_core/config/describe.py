"""What can be set, for editors, documentation and people; all of it from the classes."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import attrs

from hermes_core.config.build import types_of
from hermes_core.config.schema import PLUGIN_SPACES, Config
from hermes_core.options import Secret
from hermes_core.types.base import JSON

_SIMPLE = {str: "string", Secret: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_LISTS = (list, tuple, set, frozenset, Sequence)
_BOUNDS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


class Row(NamedTuple):
    """One setting: its dotted key, type in words, default (attrs.NOTHING: it must be given), and help."""

    key: str
    type: str
    default: JSON
    help: str


def json_schema(cls: Any) -> dict[str, JSON]:
    """The JSON Schema (draft 2020-12) of a class of options."""
    fields = types_of(cls)
    schema: dict[str, JSON] = {"type": "object", "properties": {f.name: _property(f) for f in fields}}
    required = [f.name for f in fields if f.default is attrs.NOTHING]
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def full_schema(sections: Mapping[str, type]) -> dict[str, JSON]:
    """The JSON Schema of the whole ``config.yaml``, with plugins' sections given by path."""
    schema = json_schema(Config)
    properties = schema["properties"]
    model = properties["model"]
    wire = {"enum": ["chat_completions", "codex_responses"], "description": "Another name of wire."}
    model["properties"] |= {"model": {"type": "string", "description": "Another name of default."}, "api_mode": wire}
    properties["providers"]["additionalProperties"]["properties"]["api_mode"] = wire
    about = model.pop("description")
    properties["model"] = {"description": about, "anyOf": [{"type": "string"}, model]}
    for space in PLUGIN_SPACES:
        mine = {path.split(".", 1)[1]: cls for path, cls in sections.items() if path.startswith(f"{space}.")}
        inner: dict[str, JSON] = {name: json_schema(cls) for name, cls in sorted(mine.items())}
        properties[space] = {"type": ["object", "null"], "properties": inner, "additionalProperties": True}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Hermes settings", **schema}


def settings_rows(cls: Any, path: str = "", *, named: bool = False) -> list[Row]:
    """Every setting of a class and of the classes in it, in order.

    ``named`` adds those under names a person chooses, as ``providers.NAME.base_url``: for docs, not for values.
    """
    rows = []
    for field in types_of(cls):
        key = f"{path}.{field.name}" if path else field.name
        if field.type and attrs.has(field.type):
            rows += settings_rows(field.type, key, named=named)
            continue
        rows.append(Row(key, _words(field.type), _default(field), str(field.metadata.get("help", ""))))
        inner = get_args(field.type)
        if named and get_origin(field.type) is dict and attrs.has(inner[1]):
            rows += settings_rows(inner[1], f"{key}.NAME", named=True)
    return rows


def markdown_table(cls: Any, path: str = "") -> str:
    """The settings as a Markdown table, for a plugin's README."""
    lines = ["| Setting | Type | Default | Meaning |", "|---|---|---|---|"]
    for row in settings_rows(cls, path, named=True):
        cells = (f"`{row.key}`", row.type, _cell(row.default), row.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _cell(default: JSON) -> str:
    if default is attrs.NOTHING or default is None:
        return "" if default is None else "required"
    if isinstance(default, str):
        return f"`{default}`" if default else '`""`'
    import json

    return f"`{json.dumps(default, default=list)}`"


def _property(field: "attrs.Attribute[Any]") -> dict[str, JSON]:
    schema = _type_schema(field.type)
    for part in (field.validator, getattr(field.validator, "validator", None), *_parts(field.validator)):
        schema |= _bound(part, schema)
    if field.metadata.get("help"):
        schema["description"] = field.metadata["help"]
    default = _default(field)
    if default is not attrs.NOTHING and not attrs.has(type(default)):
        schema["default"] = list(default) if isinstance(default, tuple | set | frozenset) else default
    if field.metadata.get("example") is not None:
        schema["examples"] = [field.metadata["example"]]
    return schema


def _parts(validator: Any) -> Sequence[Any]:
    found: Sequence[Any] = getattr(validator, "_validators", ())
    return found


def _bound(validator: Any, schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """What an attrs validator says, as JSON Schema."""
    size = "Items" if schema.get("type") == "array" else "Length"
    if hasattr(validator, "compare_op"):
        return {_BOUNDS[validator.compare_op]: validator.bound}
    if hasattr(validator, "min_length"):
        return {f"min{size}": validator.min_length}
    if hasattr(validator, "max_length"):
        return {f"max{size}": validator.max_length}
    if hasattr(validator, "pattern"):
        return {"pattern": f"^(?:{validator.pattern.pattern})$"}
    return {"enum": list(validator.options)} if hasattr(validator, "options") else {}


def _type_schema(kind: Any) -> dict[str, JSON]:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in _SIMPLE:
        return {"type": _SIMPLE[origin]}
    if origin is Literal:
        return {"enum": list(inner)}
    if attrs.has(origin):
        return json_schema(origin)
    if origin in _LISTS:
        items = _type_schema(inner[0]) if inner else {}
        return {"type": "array", "items": items} if items else {"type": "array"}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": (_type_schema(inner[1]) if inner else {}) or True}
    if origin in (Union, UnionType):
        parts = [_type_schema(part) for part in inner]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    return {}


def _words(kind: Any) -> str:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    names = {str: "text", Secret: "Secret", int: "whole number", float: "number", bool: "true or false"}
    if origin is Literal:
        return ", ".join(str(choice) or '""' for choice in inner)
    if origin in _LISTS:
        return f"list of {_words(inner[0])}" if inner else "list"
    if origin in (Union, UnionType):
        return " or ".join("empty" if part is NoneType else _words(part) for part in inner)
    return "section" if attrs.has(origin) or origin in (dict, Mapping) else names.get(origin, "anything")


def _default(field: "attrs.Attribute[Any]") -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return attrs.NOTHING if default.takes_self else default.factory()
    return default
