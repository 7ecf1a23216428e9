"""What people do in a chat with what is kept of them."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Message, Session, SlashCommand

__all__ = ["slash_commands"]


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/export`` and ``/forget``; the manifest says where."""

    async def export(session: Session, rest: str) -> Message:
        from hermes_tool_upkeep.forget import export_mine

        return await export_mine(ctx, session, rest)

    async def forget(session: Session, rest: str) -> str:
        from hermes_tool_upkeep.forget import forget_me

        return await forget_me(ctx, session, rest)

    return (
        SlashCommand(name="export", run=export),
        SlashCommand(name="forget", run=forget, confirm=_asked),
    )


def _asked(rest: str) -> str:
    """What is asked before somebody is forgotten."""
    if rest.strip() != "me":
        return ""
    return (
        "Everything that is kept of you would be erased for good: conversations, memory, files, and that you may talk "
        "to me. /export gives it to you before."
    )
