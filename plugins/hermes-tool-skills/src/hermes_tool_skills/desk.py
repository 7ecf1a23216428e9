"""What the hooks of one kernel share."""

from hermes_core.context import PluginContext
from hermes_tool_skills.catalogue import Catalogue


def catalogue_for(ctx: PluginContext) -> Catalogue:
    """The catalogue of a kernel, one and the same for all its hooks."""
    made: Catalogue | None = ctx.state.get("catalogue")
    if made is None:
        made = ctx.state["catalogue"] = Catalogue(ctx)
    return made
