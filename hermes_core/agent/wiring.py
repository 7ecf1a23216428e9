"""The brokers of a plugin's context that need the whole kernel, each made when it is first used."""

from functools import partial

from hermes_core.agent.runtime import Runtime
from hermes_core.plugins.index import Installed

__all__ = ["broker_of"]


def broker_of(runtime: Runtime, name: str, installed: Installed) -> object:
    """A broker by its name in the context: turns, sessions, settings, models or plugins."""
    if name == "turns":
        from hermes_core.agent.turns import Turns

        return Turns(runtime, installed)
    if name == "sessions":
        from hermes_core.agent.sessions import Sessions

        return Sessions(runtime, installed)
    if name == "settings":
        from hermes_core.agent.settings import HomeSettings

        did = "looked into the settings"
        return HomeSettings(
            runtime, partial(installed.require, "permissions", "kernel", "settings.write", did), installed
        )
    from hermes_core.agent.control import Models, Plugins

    return Models(runtime, installed) if name == "models" else Plugins(runtime, installed)
