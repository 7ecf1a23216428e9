"""What Home Assistant says, in lines for a model: entities, states, histories, services. Bounded, each of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hermes_tool_homeassistant.client import Client

__all__ = ["Placed", "areas_of", "changes", "described", "entity_line", "plain", "service_lines", "state_lines"]

_VALUE = 300  # characters of one value
_ALL = 12_000  # characters of all attributes of an entity
Json = Any


class Placed:
    """Which area each entity is in: its own, else that of its device."""

    def __init__(self, areas: Json, devices: Json, entities: Json) -> None:
        self.names = {str(one["area_id"]): plain(one.get("name")) for one in _rows(areas) if one.get("area_id")}
        of_device = {one.get("id"): one.get("area_id") for one in _rows(devices)}
        self._area = {
            one["entity_id"]: one.get("area_id") or of_device.get(one.get("device_id"))
            for one in _rows(entities)
            if isinstance(one.get("entity_id"), str)
        }

    def area(self, entity: str) -> str:
        """The name of the area of an entity; empty where it is in none."""
        return self.names.get(str(self._area.get(entity)), "")

    def is_in(self, entity: str, wanted: str) -> bool:
        """Whether an entity is in an area, by its name or id."""
        found = str(self._area.get(entity) or "")
        return bool(found) and wanted.casefold() in (found.casefold(), self.names.get(found, "").casefold())


async def areas_of(client: Client) -> Placed:
    """The areas now. Raises ToolError."""
    kinds = ("area", "device", "entity")
    return Placed(*[await client.ask(f"config/{kind}_registry/list") for kind in kinds])


def plain(value: Json, most: int = _VALUE) -> str:
    """A value in one line."""
    text = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    )
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return f"{text[:most]}…" if len(text) > most else text


def described(state: Mapping[str, Json]) -> str:
    """The state itself, with its unit."""
    attributes = state.get("attributes")
    unit = plain(attributes.get("unit_of_measurement"), 20) if isinstance(attributes, dict) else ""
    return f"{plain(state.get('state'))} {unit}".strip() or "(empty)"


def name_of(state: Mapping[str, Json]) -> str:
    """What people call it."""
    attributes = state.get("attributes")
    return plain(attributes.get("friendly_name"), 80) if isinstance(attributes, dict) else ""


def entity_line(state: Mapping[str, Json], area: str) -> str:
    """One entity of a list."""
    words = (plain(state.get("entity_id"), 120), described(state), name_of(state))
    return " | ".join([*words, area] if area else words)


def state_lines(state: Mapping[str, Json], area: str) -> str:
    """All of one entity."""
    lines = [f"{plain(state.get('entity_id'), 120)}: {described(state)}"]
    lines += [f"name: {name_of(state)}"] if name_of(state) else []
    lines += [f"area: {area}"] if area else []
    lines += [f"changed: {plain(state.get('last_changed'), 40)}"]
    attributes = state.get("attributes")
    rest = attributes if isinstance(attributes, dict) else {}
    hidden = ("friendly_name", "unit_of_measurement", "entity_picture", "access_token")
    lines += [f"{plain(key, 60)}: {plain(value)}" for key, value in rest.items() if key not in hidden]
    text = "\n".join(lines)
    return f"{text[:_ALL]}\n… (cut)" if len(text) > _ALL else text


def changes(rows: Json, most: int) -> str:
    """A history: when it became what. Of many the last ones."""
    lines = list[str]()
    before = None
    for row in _rows(rows):
        value, when = row.get("s", row.get("state")), row.get("lc", row.get("lu", row.get("last_changed")))
        if value == before:
            continue
        before = value
        lines.append(f"{_time(when)}  {plain(value, 100)}")
    left = len(lines) - most
    return "\n".join([f"({left} earlier ones are left out)", *lines[-most:]] if left > 0 else lines)


def service_lines(services: Json, domain: str) -> Iterable[str]:
    """What can be called: of one domain with its fields, else names alone."""
    if not isinstance(services, dict):
        return
    for name, known in sorted(services.items()):
        if not isinstance(known, dict) or (domain and name != domain):
            continue
        if not domain:
            yield f"{name}: {', '.join(sorted(map(str, known)))}"
            continue
        for service, given in sorted(known.items()):
            facts = given if isinstance(given, dict) else {}
            yield f"{name}.{service}: {plain(facts.get('description') or facts.get('name'), 200)}"
            yield from (f"  {line}" for line in _fields(facts.get("fields")))


def _fields(fields: Json) -> Iterable[str]:
    if not isinstance(fields, dict):
        return
    for name, given in fields.items():
        facts = given if isinstance(given, dict) else {}
        if isinstance(facts.get("fields"), dict):  # a group of fields
            yield from _fields(facts["fields"])
            continue
        needed = " (required)" if facts.get("required") else ""
        example = f", such as {plain(facts['example'], 60)}" if facts.get("example") not in (None, "") else ""
        yield f"{name}{needed}: {plain(facts.get('description') or facts.get('name'), 120)}{example}".rstrip(": ")


def _rows(value: Json) -> Sequence[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else ()


def _time(when: Json) -> str:
    try:
        return datetime.fromtimestamp(float(when), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (TypeError, ValueError, OverflowError, OSError):
        return plain(when, 40)
