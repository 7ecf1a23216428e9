"""Instructions that are read when they are needed, and that the agent improves itself."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool, ToolSource
from hermes_core.types import Check, Command, Prompt, Session, SlashCommand


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """``skill_view`` and ``skill_manage``."""
    from hermes_tool_skills.tools import skill_tools

    return skill_tools(ctx)


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Sequence[ToolSource]:
    """``skill_run``, once a skill was given something in secret."""
    from hermes_tool_skills.running import skill_sources

    return skill_sources(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/skills`` and ``/skill``."""
    from hermes_tool_skills.slash import slash_commands

    return slash_commands(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes skills …``."""
    from hermes_tool_skills.commands import commands

    return commands(ctx)


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """What doctor can find out about skills."""
    from hermes_tool_skills.checks import checks

    return checks(ctx)


@hookimpl
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Tell the model once per session which skills there are; what nobody uses any more goes before, once a week."""
    from hermes_tool_skills.curating import look
    from hermes_tool_skills.listing import with_skills

    await look(ctx, session)
    return await with_skills(ctx, session, prompt)
