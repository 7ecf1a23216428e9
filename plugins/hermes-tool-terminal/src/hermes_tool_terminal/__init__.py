"""Runs shell commands, and keeps those that run in the background."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs, Resource, Service, Tool
from hermes_core.types import Message, Request, Session


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools ``terminal`` and ``process``."""
    from hermes_tool_terminal.process import make_process
    from hermes_tool_terminal.terminal import make_terminal

    return [make_terminal(ctx), make_process(ctx)]


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The shell of each session, and its processes."""
    from hermes_tool_terminal.processes import Kept
    from hermes_tool_terminal.shell import Shells

    return [Shells(ctx.paths.data), Kept(ctx)]


@hookimpl
def register_jobs(ctx: PluginContext) -> Iterable[Jobs]:
    """The processes, for whoever shows and stops what runs beside a conversation."""
    from hermes_tool_terminal.jobs import Background

    return [Background(ctx)]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """The service ``processes``, which looks for those whose Hermes died."""
    from hermes_tool_terminal.ends import Ends

    return [Ends(ctx)]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Remember the processes of a session that is taken up again."""
    from hermes_tool_terminal.records import remembered

    await remembered(ctx, session)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Say to whoever watches why a turn begins that nobody asked for."""
    if session.id in ctx.state.get("had", ()):
        from hermes_tool_terminal.notices import why

        for line in why(message):
            ctx.tell(line)


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Tell a model that a process ended, or said what it is watched for."""
    if session.id not in ctx.state.get("had", ()):
        return None
    from hermes_tool_terminal.notices import noted

    return await noted(ctx, session, request)


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, request: Request) -> None:
    """Write down what a model was told of processes."""
    if session.id in ctx.state.get("had", ()):
        from hermes_tool_terminal.notices import heard

        await heard(ctx, session, request)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session) -> None:
    """Forget what the processes of a session printed."""
    from hermes_tool_terminal.processes import forget_session

    forget_session(ctx.paths.data, session.id)
    if session.id in ctx.state.get("had", ()):
        from hermes_tool_terminal.records import wait_no_more

        await wait_no_more(ctx, session.id)
