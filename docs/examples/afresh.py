"""A slash command: the last question once more, in a copy of the conversation."""

# /// hermes
# api = 1
# name = "afresh"
# kind = "tool"
# summary = "Asks the last question again, elsewhere."
# [slash.afresh]
# summary = "ask the last question again, in a copy of this session"
# usage = "[TITLE]"
# who = "everyone"
# examples = ["/afresh Another try"]
#
# [permissions]
# kernel = ["conversation.change"]
# ///

from hermes_core import hookimpl
from hermes_core.errors import UserError
from hermes_core.types import SlashCommand


@hookimpl
def register_slash_commands(ctx):
    async def run(session, rest):
        here = ctx.conversation(session)
        asked = await here.last_said()
        if asked is None:
            raise UserError("Nothing was asked yet.")
        await here.branch(rest)
        return asked  # a message of the person's: the model answers it, in the copy

    return [SlashCommand(name="afresh", run=run)]
