"""Writing down a host that a person opened for good."""

import json

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError

__all__ = ["keep_host"]

_KEY = "backends.local.hosts"


async def keep_host(ctx: PluginContext, host: str) -> None:
    """Add it to the setting; where that cannot be written, the person is told, and it is open until the end."""
    try:
        known = (await ctx.settings.get(_KEY)).value
        hosts = known if isinstance(known, list) else []
        if host not in hosts:
            await ctx.settings.set(_KEY, json.dumps([*hosts, host]))
    except HermesError as error:
        ctx.tell(f"{host} is open until Hermes ends; {_KEY} could not be written: {error.text}")
