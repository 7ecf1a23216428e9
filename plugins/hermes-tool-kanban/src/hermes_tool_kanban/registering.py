"""What the plugin has that no conversation shows: tables, the dispatcher, the tools of who works on tasks."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service, Tool, ToolSource
from hermes_core.types import Migration, Routes, Session

__all__ = ["register_migrations", "register_routes", "register_services", "register_tool_sources"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of boards."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """Who hands out tasks."""
    from hermes_tool_kanban.dispatcher import Dispatcher

    return [Dispatcher(ctx)]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """Boards and their tasks over HTTP."""
    from hermes_tool_kanban.boards_route import boards_route
    from hermes_tool_kanban.route import tasks_route

    return [tasks_route(ctx), boards_route(ctx)]


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Iterable[ToolSource]:
    """The tools of boards, which no conversation is told of that has no use for them."""

    def tools(session: Session) -> Iterable[Tool]:
        if not _offered(ctx, session):
            return ()
        if "tools" not in ctx.state:
            from hermes_tool_kanban.toolset import tools_of

            ctx.state["tools"] = tools_of(ctx)
        found: Iterable[Tool] = ctx.state["tools"]
        if session.origin != "kanban":
            return [one for one in found if one.name not in _WORKERS]
        return found

    return [ToolSource(name="kanban", toolset="kanban", tools=tools)]


_WORKERS = ("kanban_complete", "kanban_block", "kanban_handoff", "kanban_review", "kanban_heartbeat")


def _offered(ctx: PluginContext, session: Session) -> bool:
    """Whether a session works on a task, or its person wants boards in conversations.

    A turn that somebody bounded makes no tasks: those would be done without its bounds.
    """
    if session.origin == "kanban":
        return True
    alone = session.asker == session.owner and "#" not in session.owner.person
    return bool(ctx.config and ctx.config.tools) and alone and session.bounds is None
