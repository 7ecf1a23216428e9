"""Passwords, cards and one-time codes that a tool uses and the model never sees."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Masker, Tool, ToolSource
from hermes_core.types import Command, Session, ToolCall, Verdict


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Iterable[ToolSource]:
    """The source ``vault``: it lists, runs, fetches and fills, once there is a vault."""

    def tools(session: Session) -> Iterable[Tool]:
        if session.owner != ctx.owner or not (ctx.paths.data / "vault").exists():
            return ()
        from hermes_tool_vault.tools import tools_of

        return tools_of(ctx)

    return [ToolSource(name="vault", toolset="vault", tools=tools)]


@hookimpl
def register_maskers(ctx: PluginContext) -> Iterable[Masker]:
    """The masker ``vault``."""
    from hermes_tool_vault.masker import Kept

    return [Kept(ctx)]


@hookimpl
async def redirect_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> ToolCall | None:
    """Have a command, a page or a field with a handle in it answered by the tools of the vault."""
    if call.name not in ("terminal", "web_fetch", "browser_type") or "{{" not in str(call.arguments):
        return None
    if session.owner != ctx.owner or not (ctx.paths.data / "vault").exists():
        return None
    from hermes_tool_vault.redirecting import redirected

    return redirected(call)


@hookimpl
async def pre_tool_call(call: ToolCall) -> Verdict | None:
    """Say what one call does; the person is asked by the tool itself, in every mode."""
    if call.name not in ("vault_fetch", "vault_fill"):
        return None
    from hermes_tool_vault.fetch import effects_of

    return Verdict(outcome="allow", effects=effects_of(call))


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The commands of ``hermes vault``."""
    from hermes_tool_vault.commands import commands

    return commands(ctx)
