"""What the plugin adds: a tool, commands, a service and a check. Nothing is imported before it is asked for."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs, Service
from hermes_core.types import Check, SlashCommand

__all__ = ["register_checks", "register_jobs", "register_services", "register_slash_commands", "register_tools"]


@hookimpl
def register_services(ctx: PluginContext) -> Sequence[Service]:
    """The service ``voices``."""
    from hermes_tool_speech.answering import Voices

    return [Voices(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/voice`` in chats, ``/talk`` in terminals."""
    from hermes_tool_speech.answering import voice_command
    from hermes_tool_speech.talking import talk_command

    return [voice_command(ctx), talk_command(ctx)]


@hookimpl
def register_jobs(ctx: PluginContext) -> Sequence[Jobs]:
    """The conversation that is spoken, as work that a person sees and ends."""
    from hermes_tool_speech.conversing import Talks, talk_of

    return [Talks(talk_of(ctx))]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether who is set to speak and to hear is there."""
    from hermes_tool_speech.checks import checks

    return checks(ctx)


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``speak``."""
    from hermes_tool_speech.tool import speak_tool

    return [speak_tool(ctx)]
