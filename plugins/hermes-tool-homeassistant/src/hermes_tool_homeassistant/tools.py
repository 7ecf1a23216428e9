"""The tools of Home Assistant: looking at the home, and calling its services."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import urlsplit

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, nearest
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, matches_re, option, settings
from hermes_core.types import JSON, Effect, Question, Session
from hermes_tool_homeassistant import reading
from hermes_tool_homeassistant.client import TOKEN, Client
from hermes_tool_homeassistant.config import Config
from hermes_tool_homeassistant.judging import guarded_by
from hermes_tool_homeassistant.lasting import NAME

__all__ = ["tools_of"]

_LISTED = 200  # entities of one answer
_CHANGES = 200  # of a history
_SERVICES = 12_000  # characters
_ENTITY = r"[a-z0-9_]+\.[a-z0-9_]+"
_WORD = r"[a-z0-9_]*"


@settings
class Listing:
    """Which entities."""

    domain: str = option("light, sensor, …", default="", validator=matches_re(_WORD))
    area: str = option("An area, by its name.", default="")
    search: str = option("Part of an id or a name.", default="")


@settings
class One:
    """One entity."""

    entity_id: str = option("", validator=matches_re(_ENTITY))


@settings
class Past:
    """How far back."""

    entity_id: str = option("", validator=matches_re(_ENTITY))
    hours: float = option("", default=24.0, validator=[ge(0.01), le(744)])


@settings
class Domain:
    """Of which domain."""

    domain: str = option("With its fields; empty: only names.", default="", validator=matches_re(_WORD))


@settings
class Calling:
    """A service and its data."""

    domain: str = option("")
    service: str = option("")
    entity_id: list[str] = option("", factory=list)
    data: dict[str, Any] = option("Its fields; area_id for all of an area.", factory=dict)


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""
    config: Config = ctx.config or Config()
    host = (urlsplit(config.url).hostname or "").lower()

    def needs(session: Session) -> str | None:
        if session.owner != ctx.owner and not {"*", session.owner.person} & set(config.people):
            return "this home is its owner's alone"
        return None if ctx.secrets.get(TOKEN) else f"it needs the secret {TOKEN}: {ctx.program} setup homeassistant"

    looks = tool(
        toolset="homeassistant", effects=[Effect.NETWORK], idempotent=True, untrusted=True, needs=needs,
        touches=lambda _: (f"host:{host}",),
    )  # fmt: skip

    @looks
    async def ha_list_entities(context: ToolContext, which: Listing) -> str:
        """List devices and sensors of the home, with their states."""
        client = await _client(context)
        placed = await reading.areas_of(client)
        found = [one for one in await _states(client) if _fits(one, which, placed)]
        if not found:
            known = ", ".join(sorted(placed.names.values()))
            return f"No entity fits. Areas: {known or 'none'}."
        lines = [reading.entity_line(one, placed.area(str(one["entity_id"]))) for one in found[:_LISTED]]
        left = len(found) - len(lines)
        return "\n".join([*lines, f"{left} more: ask for a domain, an area or a search."] if left else lines)

    @looks
    async def ha_get_state(context: ToolContext, which: One) -> str:
        """Read one entity with its attributes."""
        client = await _client(context)
        state = _found(await _states(client), which.entity_id)
        placed = await reading.areas_of(client)
        return reading.state_lines(state, placed.area(which.entity_id))

    @looks
    async def ha_history(context: ToolContext, past: Past) -> str:
        """Read when an entity changed, in UTC."""
        client = await _client(context)
        _found(await _states(client), past.entity_id)
        since = datetime.now(UTC) - timedelta(hours=past.hours)
        given = await client.ask(
            "history/history_during_period", start_time=since.isoformat(), entity_ids=[past.entity_id],
            minimal_response=True, no_attributes=True, significant_changes_only=False,
        )  # fmt: skip
        rows = given.get(past.entity_id) if isinstance(given, dict) else None
        return reading.changes(rows, _CHANGES) or f"Nothing is known of {past.entity_id} of these {past.hours:g} hours."

    @looks
    async def ha_list_areas(context: ToolContext) -> str:
        """List the areas of the home."""
        placed = await reading.areas_of(await _client(context))
        return "\n".join(f"{name} ({area})" for area, name in sorted(placed.names.items())) or "There are no areas."

    @looks
    async def ha_list_services(context: ToolContext, which: Domain) -> str:
        """List what ha_call_service can call."""
        services = await (await _client(context)).kept("get_services")
        lines = [*reading.service_lines(services, which.domain)]
        if not lines:
            raise ToolError(f"There is no domain {which.domain!r}.{_close(which.domain, services)}")
        text = "\n".join(lines)
        return f"{text[:_SERVICES]}\n… (cut)" if len(text) > _SERVICES else text

    @tool(
        toolset="homeassistant", effects=[Effect.NETWORK, Effect.SEND, Effect.ASK], untrusted=True, needs=needs,
        touches=lambda _: (f"host:{host}",),
    )  # fmt: skip
    async def ha_call_service(context: ToolContext, call: Calling) -> str:
        """Call a service: switch, set or run something in the home."""
        given: dict[str, JSON] = {"domain": call.domain, "service": call.service}
        given |= {"entity_id": cast("JSON", call.entity_id), "data": call.data}
        client = await _client(context)
        facts = await _service(client, call.domain, call.service)
        if why := guarded_by(config, given):
            await _agreed(context, call, why)
        more = {"service_data": call.data} if call.data else {}
        target = {"target": {"entity_id": call.entity_id}} if call.entity_id else {}
        wants = {"return_response": True} if isinstance(facts.get("response"), dict) else {}
        done = await client.ask("call_service", domain=call.domain, service=call.service, **more, **target, **wants)
        answer = done.get("response") if isinstance(done, dict) else None
        lines = [f"{call.domain}.{call.service} was called."]
        lines += [reading.plain(answer, _SERVICES)] if answer else []
        states = {one.get("entity_id"): one for one in await _states(client)} if call.entity_id else {}
        lines += [reading.entity_line(states[one], "") for one in call.entity_id[:20] if one in states]
        return "\n".join(lines)

    return (ha_list_entities, ha_get_state, ha_history, ha_list_areas, ha_list_services, ha_call_service)


async def _client(context: ToolContext) -> Client:
    return cast("Client", await context.resource(NAME))


async def _states(client: Client) -> Sequence[dict[str, Any]]:
    given = await client.ask("get_states")
    rows = given if isinstance(given, list) else ()
    return [one for one in rows if isinstance(one, dict) and isinstance(one.get("entity_id"), str)]


def _found(states: Sequence[dict[str, Any]], entity: str) -> dict[str, Any]:
    for one in states:
        if one["entity_id"] == entity:
            return one
    close = nearest(entity, [one["entity_id"] for one in states])
    raise ToolError(
        f"There is no entity {entity}.{f' Did you mean {close}?' if close else ''}", hint="ha_list_entities"
    )


def _fits(state: dict[str, Any], which: Listing, placed: reading.Placed) -> bool:
    entity = str(state["entity_id"])
    if which.domain and entity.partition(".")[0] != which.domain:
        return False
    if which.area and not placed.is_in(entity, which.area):
        return False
    return which.search.casefold() in f"{entity} {reading.name_of(state)}".casefold()


async def _service(client: Client, domain: str, service: str) -> dict[str, Any]:
    """What Home Assistant says of a service. Raises ToolError where there is none."""
    services = await client.kept("get_services")
    known = services.get(domain) if isinstance(services, dict) else None
    if not isinstance(known, dict):
        raise ToolError(f"There is no domain {domain!r}.{_close(domain, services)}", hint="ha_list_services")
    if service not in known:
        raise ToolError(f"{domain} has no service {service!r}.{_close(service, known)}", hint="ha_list_services")
    return known[service] if isinstance(known[service], dict) else {}


def _close(name: str, known: Any) -> str:
    close = nearest(name, map(str, known)) if isinstance(known, dict) else ""
    return f" Did you mean {close}?" if close else ""


async def _agreed(context: ToolContext, call: Calling, why: str) -> None:
    """Make sure that a person agrees to a guarded service, in every mode. Raises ToolError."""
    what = f"{call.domain}.{call.service}({', '.join(call.entity_id)})"
    shown = f"{what}\n{reading.plain(call.data, 1_000)}" if call.data else what
    outside = ", and this conversation holds text from outside, which may have asked for it"
    question = Question(
        id=os.urandom(16).hex(),
        kind="approval",
        subject=shown,
        risk=f"reaches for {why} in your home{outside if context.session.untrusted else ''}",
        choices=("once", "deny"),
    )
    verdict = await context.ask(question)
    if verdict.outcome == "allow":
        return
    if verdict.by:
        raise ToolError(f"Not done: the person does not want it. {verdict.reason}".strip(), retry=False)
    raise ToolError(
        f"Not done: {what} needs a person's yes, and nobody is here.",
        hint=f"A person can allow it for good: put {call.domain}.{call.service} into tools.homeassistant.allow.",
        retry=False,
    )
