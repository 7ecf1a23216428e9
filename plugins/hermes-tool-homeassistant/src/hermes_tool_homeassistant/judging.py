"""What a service does, for the policy: it is called never, only with a person's yes, as the mode says, or freely.

What counts is its domain, and each entity that stands anywhere in the call: a scene that is applied may unlock a door,
and a generic service turns on whatever it is given.
"""

import json
import re
from collections.abc import Mapping

from hermes_core.context import PluginContext
from hermes_core.types import JSON, ToolCall, Verdict
from hermes_tool_homeassistant.config import Config

__all__ = ["guarded_by", "judged", "named"]

_NAME = re.compile(r"[a-z0-9_]+")
_ENTITY = re.compile(r"([a-z0-9_]+)\.[a-z0-9_]")


def judged(ctx: PluginContext, call: ToolCall) -> Verdict:
    """The verdict on a call; one that only looks at the home leaves it as it is, and asks nobody."""
    if call.name != "ha_call_service":
        return Verdict(outcome="allow", effects=frozenset())
    config: Config = ctx.config or Config()
    domain, service = (str(call.arguments.get(key, "")) for key in ("domain", "service"))
    if not (_NAME.fullmatch(domain) and _NAME.fullmatch(service)):
        return Verdict(outcome="deny", reason=f"{f'{domain}.{service}'[:80]!r} is no service: write light and turn_on")
    if domain in config.blocked:
        return Verdict(
            outcome="deny",
            reason=f"services of {domain} are never called: tools.homeassistant.blocked names that domain",
        )
    if guarded_by(config, call.arguments) or _free(config, domain, service):
        return Verdict(outcome="allow", effects=frozenset())  # a guarded one asks itself, in every mode
    whom = f" for {', '.join(named(call.arguments))}" if call.arguments.get("entity_id") else ""
    return Verdict(outcome="ask", reason=f"calls {domain}.{service}{whom} in your home")


def guarded_by(config: Config, arguments: Mapping[str, JSON]) -> str:
    """The guarded domain that a call reaches for; empty where it reaches for none, or a person named the service."""
    domain, service = str(arguments.get("domain", "")), str(arguments.get("service", ""))
    if domain in config.guarded and f"{domain}.{service}" not in config.allow:
        return domain
    given = json.dumps([arguments.get("entity_id"), arguments.get("data")], ensure_ascii=False, default=str).lower()
    return next((one for one in _ENTITY.findall(given) if one in config.guarded and one != domain), "")


def named(arguments: Mapping[str, JSON]) -> list[str]:
    """The entities that a call names as its own."""
    given = arguments.get("entity_id")
    return [str(one)[:100] for one in (given if isinstance(given, list) else [given] if given else [])]


def _free(config: Config, domain: str, service: str) -> bool:
    return f"{domain}.{service}" in config.allow or f"{domain}.*" in config.allow
