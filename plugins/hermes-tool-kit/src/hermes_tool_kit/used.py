"""Whether a home ever had anything of a plugin's: one that never had is looked at without making its tables."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["is_used", "mark_used"]

_USED = "used"


def mark_used(ctx: "PluginContext") -> None:
    """Write down that this home has something of the plugin's."""
    ctx.paths.data.mkdir(parents=True, exist_ok=True)
    (ctx.paths.data / _USED).touch()


def is_used(ctx: "PluginContext", rows: str) -> bool:
    """Tell whether it ever had, or its tables were opened here: ``rows`` is what the plugin's state has them under."""
    return rows in ctx.state or (ctx.paths.data / _USED).exists()
