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
    workers, tasks, others = sections["workers"]["properties"], sections["auxiliary"], sections["fallback_providers"]
    workers["engine"] = workers["queue"]
    for listing in (others, tasks["additionalProperties"]["properties"]["fallback"]):
        listing["items"] = _or_text(listing["items"])
    tasks["additionalProperties"] = _or_text(tasks["additionalProperties"])
    for section in (*sections.values(), endpoint):
        _may_be_empty(section)
    sections["model"] = _or_text(model)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Hermes settings", **whole}


def _or_text(schema: JSON) -> dict[str, JSON]:
    """Let a text stand in the place of a section, as in ``PROVIDER:MODEL``."""
    return {"anyOf": [{"type": "string"}, schema]}


def _may_be_empty(schema: dict[str, Any]) -> None:
    """Let nothing stand in the place of a section, and of those in it."""
    if schema.get("type") == "object" and "properties" in schema:
        schema["type"] = _EMPTY
    for one in schema.get("properties", {}).values():
        _may_be_empty(one)
