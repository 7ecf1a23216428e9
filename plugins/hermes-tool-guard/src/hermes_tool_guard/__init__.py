"""Understands shell commands before they run."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Workspace
from hermes_core.types import Command, Effect, Protected, Session, ToolCall, Verdict


@hookimpl
async def judge_command(call: ToolCall, workspace: Workspace, protected: Protected) -> Verdict | None:
    """Say what is never run, and what the parts of a command are that rules and grants see."""
    from hermes_tool_guard.gate import look

    return await look(call, workspace, protected)


@hookimpl
async def pre_tool_call(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    effects: frozenset[Effect],
    workspace: Workspace,
    walled: bool,
    protected: Protected,
) -> Verdict | None:
    """Judge the shell command of a call; nothing is said of other calls."""
    if Effect.EXECUTE not in effects:
        return None
    from hermes_tool_guard.gate import judge

    return await judge(call, workspace, str(ctx.paths.home), protected, walled=walled, session=session)


@hookimpl
async def second_opinion(ctx: PluginContext, session: Session, command: str, folder: str, risk: str) -> Verdict | None:
    """Let a model look at a command that a person would be asked about."""
    from hermes_tool_guard.opinion import verdict_of

    return await verdict_of(ctx, session, command, folder, risk)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``guard check``."""
    from hermes_tool_guard.command import make_check

    return [
        Command(
            name="guard check",
            build=lambda: make_check(str(ctx.paths.home)),
        )
    ]
