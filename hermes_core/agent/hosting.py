"""Serving a platform to those who wait on it, by the host that a plugin is."""

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import NotPermitted, UserError
from hermes_core.kinds import Host, Platform

__all__ = ["serve"]


async def serve(runtime: Runtime, platform: Platform, session: str = "", host: Host | None = None) -> None:
    """Let a host carry what is said on a platform until those on it leave. Raises UserError where there is none."""
    host = host or _host(runtime)
    found = runtime.dispatch.contributions("register_platforms")
    label = next((label for label, one in found if one is platform), "")

    def require(permission: str, did: str) -> None:
        plugin = runtime.index.get(label)
        if plugin is None:
            raise NotPermitted(platform.name, "belongs to no plugin, so nothing was granted to it")
        plugin.require("permissions", "kernel", permission, did)

    await host.serve(platform, session, require)


def _host(runtime: Runtime) -> Host:
    runtime.loader.load_contributing("hosts")
    for _, one in runtime.dispatch.contributions("register_hosts"):
        return one  # type: ignore[no-any-return]
    hint = f"{runtime.home.brand} plugins install hermes-platform-cli"
    raise UserError("No plugin is here that carries a conversation.", hint=hint)
