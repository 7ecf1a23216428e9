"""Says in words what pictures show, to models that do not see."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Request, Session


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Put words behind pictures that came since the last answer, where the model takes none."""
    from hermes_tool_vision.pictures import new_pictures

    if ctx.config.describe == "never" or not (pictures := new_pictures(request.messages)):
        return None
    from hermes_tool_vision.describing import described, is_blind

    if ctx.config.describe == "auto" and not await is_blind(ctx, request.model):
        return None
    return await described(ctx, session, request, pictures)


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``look``."""
    from hermes_tool_vision.tool import look_tool

    return [look_tool(ctx)]
