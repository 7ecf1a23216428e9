"""The Hermes kernel: hook specifications, plugins, configuration, store, agent loop and CLI shell.

Names are imported when first used (PEP 562), so that importing any submodule costs only that submodule.
"""

TYPE_CHECKING = False  # typing itself costs as much as Python's own start
if TYPE_CHECKING:
    from hermes_agent import Agent
    from hermes_core.distribution import Distribution
    from hermes_core.embed import Hermes
    from hermes_core.kinds import Backend, Memory, Platform, Provider, Tool, Workspace
    from hermes_core.kinds.tool import tool
    from hermes_core.modes import hookimpl
    from hermes_core.options import Secret, option, settings

__version__ = "1.0.0"

__all__ = [
    "Agent",
    "Backend",
    "Distribution",
    "Hermes",
    "Memory",
    "Platform",
    "Provider",
    "Secret",
    "Tool",
    "Workspace",
    "__version__",
    "hookimpl",
    "option",
    "settings",
    "tool",
]

_HOMES = {
    "distribution": ("Distribution",),
    "embed": ("Hermes",),
    "kinds": ("Backend", "Memory", "Platform", "Provider", "Tool", "Workspace", "tool"),
    "modes": ("hookimpl",),
    "options": ("Secret", "option", "settings"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "Agent":  # where programs look for it; it is a library's
        return import_module("hermes_agent").Agent
    home = next((home for home, names in _HOMES.items() if name in names), "")
    if not home:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
