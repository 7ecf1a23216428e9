# /// hermes
# api = 1
# name = "tally"
# kind = "tool"
# summary = "Counts what is worth counting."
#
# [contributes]
# tools = ["tally"]
# ///
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.options import option, settings


@settings
class Tally:
    what: str = option("what to count one more of")


@hookimpl
def register_tools(ctx):
    @tool
    async def tally(context: ToolContext, wanted: Tally) -> str:
        """Count one more of something, over all conversations of the person."""

        def more(before):
            counts = before or {}
            return {**counts, wanted.what: counts.get(wanted.what, 0) + 1}

        counts = await ctx.documents.change("counts", more, owner=context.session.owner)
        return f"{wanted.what}: {counts[wanted.what]}"

    return [tally]
