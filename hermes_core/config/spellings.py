"""Other spellings of the settings, brought to the one that classes know, if they can be."""

from collections.abc import Container
from typing import Any

from attrs import fields, has

from hermes_core.config.schema import PROTOCOLS
from hermes_core.types.base import JSON


def split_model(words: str, providers: Container[str]) -> tuple[str, str]:
    """Return provider and model of ``provider:name``; a name may hold colons itself, so the provider must be known."""
    provider, colon, name = words.partition(":")
    return (provider, name) if colon and provider in providers else ("", words)


def spelled_out(data: dict[str, JSON]) -> dict[str, JSON]:
    """Return the mapping with other spellings of ``model``, ``protocol`` and ``queue`` brought to what classes know.

    What cannot be brought there is left for the schema to refuse.
    """
    result, model, providers = dict(data), data.get("model"), data.get("providers")
    if isinstance(providers, dict):
        result["providers"] = {name: _one_protocol(section) for name, section in providers.items()}
    if isinstance(model, str):
        provider, name = split_model(model, {"custom", *(providers if isinstance(providers, dict) else ())})
        result["model"] = {"provider": provider, "default": name} if provider else {"default": name}
    if isinstance(data.get("fallback_providers"), list):
        result["fallback_providers"] = [_fallback(entry) for entry in data["fallback_providers"]]
    if isinstance(data.get("auxiliary"), dict):
        result["auxiliary"] = {task: _with_fallback(entry) for task, entry in data["auxiliary"].items()}
    if isinstance(workers := data.get("workers"), dict) and "engine" in workers and "queue" not in workers:
        result["workers"] = {"queue" if name == "engine" else name: value for name, value in workers.items()}
    if isinstance(model, dict):
        result["model"] = model = _one_protocol(model)
        if "model" in model and "default" not in model:
            model["default"] = model.pop("model")
    return result


def with_ids(cls: Any, section: JSON) -> JSON:
    """Return the section with lists of texts where a class asks for ids, which may stand alone, and be numbers."""

    def listing(value: JSON) -> JSON:
        if isinstance(value, dict):
            return {name: listing(one) for name, one in value.items()}
        entries = [str(one) if type(one) is int else one for one in (value if isinstance(value, list) else [value])]
        return entries if isinstance(value, list | str) or type(value) is int else value

    names = [field.name for field in fields(cls) if field.metadata.get("ids")] if has(cls) else ()
    found = {name: listing(section[name]) for name in names if name in section} if isinstance(section, dict) else {}
    return {**section, **found} if found else section


def _fallback(entry: JSON) -> JSON:
    """Return ``provider:model`` as the section that it is short for."""
    if not isinstance(entry, str):
        return entry
    provider, _, model = entry.partition(":")
    return {"provider": provider, "model": model}


def _with_fallback(section: JSON) -> JSON:
    section = _fallback(section)
    if isinstance(section, dict) and isinstance(section.get("fallback"), list):
        return {**section, "fallback": [_fallback(entry) for entry in section["fallback"]]}
    return section


def _one_protocol(section: JSON) -> JSON:
    if not isinstance(section, dict):
        return section
    section, old = dict(section), "wire" if "wire" in section else "api_mode"
    if "protocol" not in section and (old == "wire" or section.get(old) in PROTOCOLS):
        section["protocol"] = PROTOCOLS.get(str(said := section.pop(old)), said)
    return section
