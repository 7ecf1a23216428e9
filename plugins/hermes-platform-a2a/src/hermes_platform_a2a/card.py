"""The agent's card: what it is called, where it is asked, and that a key is needed."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_platform_a2a.config import Config
from hermes_platform_a2a.route import WELL_KNOWN

if TYPE_CHECKING:
    from a2a.types import AgentCard

__all__ = ["card_json", "made_card"]

_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_READS = ["text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp"]
_GIVES = ["text/plain", "application/octet-stream"]


def made_card(ctx: PluginContext, scope: Mapping[str, Any]) -> "AgentCard":
    """Return the card, for whoever asks at the address of a request."""
    from a2a.types import (
        AgentCapabilities,
        AgentCard,
        AgentInterface,
        AgentSkill,
        HTTPAuthSecurityScheme,
        SecurityRequirement,
        SecurityScheme,
        StringList,
    )

    config: Config = ctx.config or Config()
    url = _address(config, scope)
    bearer = HTTPAuthSecurityScheme(scheme="Bearer", description="A key of the Hermes API.")
    skill = AgentSkill(id="ask", name="Ask", description=config.description, tags=["assistant"])
    return AgentCard(
        name=config.name,
        description=config.description,
        version=__version__,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")
            for binding in ("JSONRPC", "HTTP+JSON")
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        security_schemes={"key": SecurityScheme(http_auth_security_scheme=bearer)},
        security_requirements=[SecurityRequirement(schemes={"key": StringList()})],
        default_input_modes=_READS,
        default_output_modes=_GIVES,
        skills=[skill],
    )


def card_json(ctx: PluginContext, scope: Mapping[str, Any]) -> bytes:
    """Return the same as it is sent."""
    from google.protobuf.json_format import MessageToDict

    return json.dumps(MessageToDict(made_card(ctx, scope)), ensure_ascii=False).encode()


def _address(config: Config, scope: Mapping[str, Any]) -> str:
    """Return where the agent is asked: below what the settings name, else where the card was asked for."""
    root = scope["root_path"]
    above = f"{root.removesuffix(WELL_KNOWN)}/platform/a2a" if root.endswith(WELL_KNOWN) else root.rpartition("/")[0]
    path = f"{above}/agent"
    if config.url:
        return f"{config.url.rstrip('/')}{path}"
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    host = hosts[0] if len(hosts) == 1 and _HOST.fullmatch(hosts[0]) else "localhost"
    return f"{scope.get('scheme', 'http')}://{host}{path}"
