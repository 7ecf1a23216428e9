"""Has a change looked at by somebody who did not write it: a turn that works for a call."""

# /// hermes
# api = 1
# name = "review"
# kind = "tool"
# summary = "Has a change reviewed."
#
# [contributes]
# tools = ["review"]
#
# [permissions]
# kernel = ["turns.run"]
# ///

from attrs import frozen

from hermes_core import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.types import Effect, Ended, TurnBounds, TurnOrder

BOUNDS = TurnBounds(tools=["files"], never=[Effect.WRITE_FILES], calls=10, levels=0)


@frozen
class Review:
    path: str


@hookimpl
def register_tools(ctx):
    @tool(effects={Effect.DELEGATE}, idempotent=True, untrusted=True, touches=lambda _: (), seconds=300)
    async def review(context: ToolContext, wanted: Review) -> str:
        """Have a change reviewed."""
        order, answer = TurnOrder(bounds=BOUNDS, event=wanted.path), ""
        async for event in ctx.turns.run(f"Review the change in {wanted.path}.", order=order, call=context):
            if isinstance(event, Ended):
                answer = event.answer
        return answer or "The reviewer came to no end."

    return [review]
