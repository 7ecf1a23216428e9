"""Serving a platform to those who wait on it, by the console driver that a plugin gives."""

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import NotPermitted, UserError
from hermes_core.kinds import ConsoleDriver, Platform

__all__ = ["serve"]


async def serve(runtime: Runtime, platform: Platform, session: str = "", driver: ConsoleDriver | None = None) -> None:
    """Let a driver carry what is said on a platform until those on it leave. Raises UserError where there is none."""
    if driver is None:
        runtime.loader.load_contributing("consoles")
        driver = next((one for _, one in runtime.dispatch.contributions("register_consoles")), None)
    if driver is None:
        hint = f"{runtime.home.brand} plugins install hermes-platform-cli"
        raise UserError("No plugin is here that drives a console.", hint=hint)
    found = runtime.dispatch.contributions("register_platforms")
    label = next((label for label, one in found if one is platform), "")

    def require(permission: str, did: str) -> None:
        plugin = runtime.index.get(label)
        if plugin is None:
            raise NotPermitted(platform.name, "belongs to no plugin, so nothing was granted to it")
        plugin.require("permissions", "kernel", permission, did)

    await driver.serve(platform, session, require)
