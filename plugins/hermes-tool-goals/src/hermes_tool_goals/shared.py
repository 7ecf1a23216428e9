"""What the parts of the plugin share in one kernel, found without importing what is not needed."""

from types import ModuleType

from hermes_core.context import PluginContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_goals.config import Config
    from hermes_tool_goals.pursuing import Pursuer
    from hermes_tool_goals.rows import Goals
    from hermes_tool_goals.values import Goal

__all__ = ["config_of", "goals_of", "hearing", "is_used", "known_of", "pursuer_of"]


def config_of(ctx: PluginContext) -> "Config":
    """Return the settings."""
    from hermes_tool_goals.config import Config

    found: Config = ctx.config or Config()
    return found


def goals_of(ctx: PluginContext) -> "Goals":
    """Return the goals of this home."""
    if "goals" not in ctx.state:
        from hermes_tool_goals.rows import Goals

        ctx.state["goals"] = Goals(ctx.store)
    found: Goals = ctx.state["goals"]
    return found


def pursuer_of(ctx: PluginContext) -> "Pursuer":
    """Return who pursues goals in this process."""
    if "pursuer" not in ctx.state:
        from hermes_tool_goals.pursuing import Pursuer

        ctx.state["pursuer"] = Pursuer(ctx)
    found: Pursuer = ctx.state["pursuer"]
    return found


def known_of(ctx: PluginContext) -> "dict[str, Goal]":
    """Return the active goals that this process knows of, by session."""
    found: dict[str, Goal] = ctx.state.setdefault("known", {})
    return found


def hearing() -> ModuleType:
    """Return what hears of conversations with a goal: most have none, and do not import it."""
    from hermes_tool_goals import hearing

    return hearing


def is_used(ctx: PluginContext) -> bool:
    """Whether this home ever had a goal, or their tables were opened here."""
    from hermes_tool_kit import used

    return used.is_used(ctx, "goals")
