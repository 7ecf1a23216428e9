"""Serving a platform to those who wait on it, by the console driver that a plugin gives."""

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import NotPermitted, UserError
from hermes_core.kinds import ConsoleDriver, Platform

__all__ = ["serve"]


async def serve(runtime: Runtime, platform: Platform, session: str = "", driver: ConsoleDriver | None = None) -> None:
    """Let a driver carry what is said on a platform until those on it leave. Raises UserError where there is none."""
    driver = driver or _driver(runtime)
    found = runtime.dispatch.contributions("register_platforms")
    label = next((label for label, one in found if one is platform), "")

    def require(permission: str, did: str) -> None:
        plugin = runtime.index.get(label)
        if plugin is None:
            raise NotPermitted(platform.name, "belongs to no plugin, so nothing was granted to it")
        plugin.require("permissions", "kernel", permission, did)

    await driver.serve(platform, session, require)


def _driver(runtime: Runtime) -> ConsoleDriver:
    runtime.loader.load_contributing("consoles")
    for _, one in runtime.dispatch.contributions("register_consoles"):
        return one  # type: ignore[no-any-return]
    hint = f"{runtime.home.brand} plugins install hermes-platform-cli"
    raise UserError("No plugin is here that drives a console.", hint=hint)
