"""Keeps notes in a table of its own."""

from pathlib import Path

from hermes_core import hookimpl, option, settings, tool
from hermes_core.kinds import ToolContext
from hermes_core.types import Migration


@settings
class Note:
    text: str = option("What to note; nothing reads all notes.", default="")


@hookimpl
def register_migrations():
    return [Migration(folder=Path(__file__).with_name("migrations"), head="0002")]


@hookimpl
def register_tools(ctx):
    @tool
    async def note(context: ToolContext, wanted: Note) -> str:
        """Note something for later conversations, or read what was noted."""
        from hermes_tool_notebook.notes import add, of

        owner = context.session.owner
        if wanted.text:
            await ctx.store.transact(lambda tx: add(tx, owner, wanted.text))
        return "\n".join(await ctx.store.transact(lambda tx: of(tx, owner))) or "Nothing was noted."

    return [note]
