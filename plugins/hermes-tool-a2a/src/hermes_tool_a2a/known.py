"""The agents that the settings name: their addresses, and their keys, which go nowhere else."""

import ipaddress
import re
from urllib.parse import urlsplit

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_tool_a2a.config import AgentSettings, Config

__all__ = ["agent", "config_of", "host_of", "names", "origin", "safe_name"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PORTS = {"http": 80, "https": 443}


def config_of(ctx: PluginContext) -> Config:
    """Return the settings."""
    found: Config = ctx.config or Config()
    return found


def names(ctx: PluginContext) -> list[str]:
    """Return how the agents are called; a name that none could have is left out."""
    return sorted(name for name in config_of(ctx).agents if _NAME.fullmatch(name))


def agent(ctx: PluginContext, name: str) -> AgentSettings:
    """Return one of them. Raises UnknownName, and UserError for an address that no key may go to."""
    if name not in names(ctx):
        hint = f"Name it: {ctx.program} config set tools.a2a.agents.NAME.url https://…"
        raise UnknownName("agent", name[:80], names(ctx), hint=hint)
    found = config_of(ctx).agents[name]
    where = f"tools.a2a.agents.{name}.url"
    scheme, host, _ = origin(found.url, where)
    if scheme == "http" and found.key and not _is_loopback(host):
        raise UserError(f"{where} begins with http://, where its key would travel in the clear.", hint="Use https://.")
    return found


def origin(url: str, where: str = "An address") -> tuple[str, str, int]:
    """Return scheme, host and port of an address. Raises UserError for one that is none."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), (parts.hostname or "").lower(), parts.port
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in _PORTS or not host or "@" in url.partition("://")[2].partition("/")[0]:
        raise UserError(f"{where} is no address of an agent: {url[:200]!r}.", hint="It begins with https://.")
    return scheme, host, port or _PORTS[scheme]


def host_of(ctx: PluginContext, name: str) -> str:
    """Return the host of an agent; empty where there is none."""
    try:
        return origin(agent(ctx, name).url)[1]
    except UserError:
        return ""


def safe_name(given: str) -> str:
    """Return the name of a file as it may be one here, whatever an agent calls it."""
    return "".join(one if one.isalnum() or one in "._-" else "_" for one in given).lstrip(".")[:80] or "file"


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
