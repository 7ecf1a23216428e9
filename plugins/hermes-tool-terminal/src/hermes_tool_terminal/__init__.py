"""Runs shell commands, and keeps those that run in the background."""

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Message, Request, Session
from hermes_tool_terminal.registering import register_jobs, register_resources, register_services, register_tools

__all__ = ["register_jobs", "register_resources", "register_services", "register_tools"]


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
