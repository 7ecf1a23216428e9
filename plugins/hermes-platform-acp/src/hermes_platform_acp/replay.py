"""What was said in a session before, as an editor is told it again."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from hermes_core.types import Blob, Message, Reasoning, Text, ToolCall, ToolResult
from hermes_platform_acp.blocks import blocks_of, text
from hermes_platform_acp.cards import Card
from hermes_platform_acp.shapes import Update
from hermes_platform_acp.teller import card_for, plan_in

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["replayed"]


async def replayed(conversation: "Conversation", past: Sequence[Message]) -> AsyncIterator[Update]:
    """Yield the updates of all messages, oldest first; a plan as it is now, once. What plugins added is left out."""
    shapes, open_cards, plan = conversation.shapes, dict[str, Card](), None
    conversation.calls.clear()
    conversation.taken.clear()
    for number, message in enumerate(past, 1):
        name = f"{conversation.session.id}-{number}"
        if message.role == "user" and "hermes" not in message.meta:
            for update in shapes.said(name, blocks_of(message.parts), live=False):
                yield update
            continue
        for place, part in enumerate(message.parts if message.role in ("assistant", "tool") else ()):
            match part:
                case Reasoning() if part.text:
                    yield shapes.piece("agent_thought", f"{name}-t{place}", text(part.text))
                case Text() | Blob():
                    for block in blocks_of([part]):
                        yield shapes.piece("agent_message", f"{name}-{place}", block)
                case ToolCall():
                    open_cards[part.id] = card = await card_for(conversation, part)
                    for update in shapes.begun(card):
                        yield update
                case ToolResult() if (shown := open_cards.pop(part.call_id, None)) is not None:
                    shown.blocks, shown.failed = blocks_of(part.parts), part.failed
                    for update in shapes.ended(shown):
                        yield update
                    found = plan_in(shown.call, part)
                    plan = plan if found is None else found
    if plan is not None:
        yield shapes.plan(plan)
