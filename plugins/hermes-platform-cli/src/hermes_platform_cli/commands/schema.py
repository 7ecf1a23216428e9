"""``hermes config schema``: what ``config.yaml`` may hold, as a JSON Schema that editors complete and check with."""

import json
from collections.abc import Sequence
from typing import Any

import click

from hermes_core.context import PluginContext
from hermes_core.platforms import PlatformSettings
from hermes_core.types import JSON, Setting
from hermes_shapes.describe import json_schema

__all__ = ["make_schema", "whole_schema"]

_OPEN = ("platforms", "tools", "backends", "memories")  # plugins that are not enabled have sections there, too
_EMPTY = ["object", "null"]  # a section may have nothing in it
_PROTOCOL = {
    "enum": ["chat_completions", "codex_responses", "anthropic_messages"],
    "description": "Another name of protocol.",
}


def make_schema(ctx: PluginContext) -> click.Command:
    """``config schema``."""

    @click.command()
    async def command() -> None:
        """Print the JSON Schema of config.yaml, for editors."""
        click.echo(json.dumps(whole_schema(await ctx.settings.list()), indent=2, ensure_ascii=False))

    return command


def whole_schema(settings: Sequence[Setting]) -> dict[str, JSON]:
    """Put settings together to the schema of the file that holds them, those of plugins too."""
    whole: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    for one in settings:
        place = whole
        *above, last = one.key.split(".")
        for step in above:
            made = {"type": "object", "properties": {}, "additionalProperties": False}
            place = place["properties"].setdefault(step, made)
            place.setdefault("properties", {})
        place["properties"][last] = {**one.schema, **place["properties"].get(last, {})}
    sections = whole["properties"]
    for name in _OPEN:
        sections[name] = {"properties": {}, **sections.get(name, {}), "type": _EMPTY, "additionalProperties": True}
    common = json_schema(PlatformSettings)["properties"]
    for section in sections["platforms"]["properties"].values():
        section["properties"] = {**common, **section["properties"]}
    sections["platforms"]["additionalProperties"] = {"type": _EMPTY, "properties": common}
    model, endpoint = sections["model"], sections["providers"]["additionalProperties"]
    model["properties"]["model"] = model["properties"]["default"]
    for section in sections["providers"].get("properties", {}).values():
        section["properties"] = {**endpoint["properties"], **section["properties"]}
    for section in (model, endpoint):
        section["properties"]["api_mode"] = _PROTOCOL
    sections["model"] = {"anyOf": [{"type": "string"}, model]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Hermes settings", **whole}
