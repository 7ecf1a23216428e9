"""What can be set, for editors, documentation and people; all of it from the classes."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import attrs

from hermes_core.config.build import NAMES, types_of
from hermes_core.config.schema import HOST, PLUGIN_SPACES, PROTOCOLS, Config
from hermes_core.options import Secret
from hermes_core.platforms import PlatformSettings
from hermes_core.types.base import JSON

_TYPES = {str: "string", Secret: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_TYPES |= {list: "array", dict: "object"}
_BOUNDS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


class Row(NamedTuple):
    """One setting: its dotted key, type in words, default (attrs.NOTHING: it must be given), help, and JSON Schema."""

    key: str
    type: str
    default: JSON
    help: str
    schema: Mapping[str, JSON]


def json_schema(cls: Any) -> dict[str, JSON]:
    """The JSON Schema (draft 2020-12) of a class of options."""
    fields = types_of(cls)
    schema: dict[str, JSON] = {"type": "object", "properties": {f.name: _property(f) for f in fields}}
    required = [f.name for f in fields if f.default is attrs.NOTHING]
    return schema | ({"required": required} if required else {}) | {"additionalProperties": False}


def full_schema(sections: Mapping[str, type]) -> dict[str, JSON]:
    """The JSON Schema of the whole ``config.yaml``, with plugins' sections given by path."""
    schema = json_schema(Config)
    properties = schema["properties"]
    model, endpoint = properties["model"], properties["providers"]["additionalProperties"]
    model["properties"]["model"] = {"type": "string", "description": "Another name of default."}
    for section in (model, endpoint):
        section["properties"]["wire"] = section["properties"]["protocol"]
        section["properties"]["api_mode"] = {"enum": list(PROTOCOLS), "description": "Another name of protocol."}
    own = {p.split(".", 1)[1]: json_schema(cls) for p, cls in sections.items() if p.startswith("providers.")}
    for section in own.values():
        section["properties"] = {**endpoint["properties"], **section["properties"]}
    properties["providers"]["properties"] = own
    properties["model"] = {"description": model.pop("description"), "anyOf": [{"type": "string"}, model]}
    properties |= {path: json_schema(cls) for path, cls in sections.items() if "." not in path}
    for space in PLUGIN_SPACES:
        inner = {p.split(".", 1)[1]: json_schema(cls) for p, cls in sections.items() if p.startswith(f"{space}.")}
        properties[space] = {"type": ["object", "null"], "properties": inner, "additionalProperties": True}
    host = json_schema(sections[HOST])["properties"] if HOST in sections else {}
    properties[HOST]["properties"] |= host
    properties[HOST]["additionalProperties"] = not host
    ours = json_schema(PlatformSettings)["properties"]
    for section in properties["platforms"]["properties"].values():
        section["properties"] = {**ours, **section["properties"]}
    properties["platforms"]["additionalProperties"] = {"type": ["object", "null"], "properties": ours}
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
        help_text = field.metadata.get("help", "")
        rows.append(Row(key, in_words(field.type), _default(field), help_text, _property(field)))
        inner = get_args(field.type)
        if named and get_origin(field.type) is dict and attrs.has(inner[1]):
            rows += settings_rows(inner[1], f"{key}.NAME", named=True)
    return rows


def plain(value: Any) -> JSON:
    """A setting as JSON can hold it; of a secret only where it is kept."""
    if isinstance(value, Secret):
        return str(value) if value.reference or not value else "[secret]"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(attrs.asdict(value, recurse=False)) if attrs.has(type(value)) else value


def validators(field: "attrs.Attribute[Any]") -> Sequence[Any]:
    """A field's validators, one by one."""
    found: Sequence[Any] = getattr(field.validator, "_validators", (field.validator,) if field.validator else ())
    return found


def limits(validator: Any, *, many: bool) -> dict[str, JSON]:
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


def _property(field: "attrs.Attribute[Any]") -> dict[str, JSON]:
    schema = _type_schema(field.type)
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


def _type_schema(kind: Any) -> dict[str, JSON]:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if attrs.has(origin):
        return json_schema(origin)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        parts = [_type_schema(part) for part in inner]
        plain = all(set(part) == {"type"} for part in parts)
        return {"type": [part["type"] for part in parts]} if plain else {"anyOf": parts}
    schema: dict[str, JSON] = {"type": _TYPES[origin]} if origin in _TYPES else {}
    if inner:
        schema["items" if origin is list else "additionalProperties"] = _type_schema(inner[-1]) or True
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
    if origin is Secret:
        return "Secret"
    return "section" if attrs.has(origin) else NAMES.get(origin, "anything").removeprefix("a ")


def _default(field: "attrs.Attribute[Any]") -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return attrs.NOTHING if default.takes_self else default.factory()
    return default
