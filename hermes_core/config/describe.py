"""What can be set in the whole ``config.yaml``, for editors, and a setting as JSON can hold it."""

from collections.abc import Mapping
from typing import Any

import attrs

from hermes_core.config.schema import OPEN, PLUGIN_SPACES, PROTOCOLS, Config
from hermes_core.options import Secret
from hermes_core.platforms import PlatformSettings
from hermes_core.types.base import JSON
from hermes_shapes.describe import json_schema

__all__ = ["full_schema", "plain"]


def full_schema(sections: Mapping[str, type]) -> dict[str, JSON]:
    """Return the JSON Schema of the whole ``config.yaml``, with plugins' sections given by path."""
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
    for path, cls in ((path, cls) for path, cls in sections.items() if "." not in path):
        more = json_schema(cls)
        kernels = properties.get(path, {}).get("properties", {})
        properties[path] = {**more, "properties": {**kernels, **more["properties"]}}
    for space in PLUGIN_SPACES:
        inner = {p.split(".", 1)[1]: json_schema(cls) for p, cls in sections.items() if p.startswith(f"{space}.")}
        properties[space] = {"type": ["object", "null"], "properties": inner, "additionalProperties": True}
    for path in OPEN:
        properties[path]["additionalProperties"] = path not in sections
    ours = json_schema(PlatformSettings)["properties"]
    for section in properties["platforms"]["properties"].values():
        section["properties"] = {**ours, **section["properties"]}
    properties["platforms"]["additionalProperties"] = {"type": ["object", "null"], "properties": ours}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Hermes settings", **schema}


def plain(value: Any) -> JSON:
    """Return a setting as JSON can hold it; of a secret only where it is kept."""
    if isinstance(value, Secret):
        return str(value) if value.reference or not value else "[secret]"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(attrs.asdict(value, recurse=False)) if attrs.has(type(value)) else value
