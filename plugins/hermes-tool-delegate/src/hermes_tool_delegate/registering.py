"""What the plugin contributes, and what its parts share."""

from collections.abc import Sequence
from functools import partial
from weakref import WeakKeyDictionary

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Jobs, Tool, ToolContext
from hermes_core.types import SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_delegate.beside import Beside
    from hermes_tool_delegate.child import ChildTask, Result
    from hermes_tool_delegate.roster import Roster

__all__ = ["beside_of", "register_jobs", "register_slash_commands", "register_tools"]

_rosters: "WeakKeyDictionary[PluginContext, Roster]" = WeakKeyDictionary()  # one for each kernel of this process


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``delegate``."""
    from hermes_tool_delegate.config import Config
    from hermes_tool_delegate.tool import delegate_tool

    return [delegate_tool(ctx.config or Config(), _roster(ctx), partial(_work, ctx), partial(beside_of, ctx))]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/agents``, which shows who is at work."""
    from hermes_tool_delegate.roster import agents_command

    return [agents_command(_roster(ctx))]


@hookimpl
def register_jobs(ctx: PluginContext) -> Sequence[Jobs]:
    """The children at work, for whoever shows and stops what runs beside a conversation."""
    from hermes_tool_delegate.jobs import Children

    return [Children(_roster(ctx))]


async def _work(ctx: PluginContext, call: ToolContext, task: "ChildTask") -> "Result":
    from hermes_tool_delegate.child import work

    return await work(ctx, call, task)


def beside_of(ctx: PluginContext) -> "Beside":
    """The background children of a kernel."""
    from hermes_tool_delegate.beside import Beside

    if "beside" not in ctx.state:
        ctx.state["beside"] = Beside(ctx, _roster(ctx))
    return ctx.state["beside"]  # type: ignore[no-any-return]


def _roster(ctx: PluginContext) -> "Roster":
    from hermes_tool_delegate.roster import Roster

    if ctx not in _rosters:
        _rosters[ctx] = Roster(*((ctx.config.max_children, ctx.config.person_children) if ctx.config else (3, 16)))
    return _rosters[ctx]
