"""What was said in a session before, as an editor is told it again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.types import Message, Part, Reasoning, ToolCall, ToolResult
from hermes_platform_acp.blocks import blocks_of, text
from hermes_platform_acp.cards import Card
from hermes_platform_acp.shapes import Update
from hermes_platform_acp.teller import card_for, plan_in

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["replayed"]


async def replayed(conversation: "Conversation", past: Sequence[Message]) -> AsyncIterator[Update]:
    """Yield the updates of all messages, oldest first; a plan as it is now, once. What plugins added is left out."""
    shapes, open_cards = conversation.shapes, dict[str, Card]()
    plan: Sequence[Mapping[str, str]] | None = None
    conversation.calls.clear()
    conversation.cards.clear()
    for number, message in enumerate(past, 1):
        name = f"{conversation.session.id}-{number}"
        if message.role == "user" and "hermes" not in message.meta:
            for update in shapes.said(name, blocks_of(message.parts), live=False):
                yield update
        elif message.role in ("assistant", "tool"):
            for place, part in enumerate(message.parts):
                if isinstance(part, ToolCall):
                    open_cards[part.id] = card = await card_for(conversation, part)
                    updates = shapes.begun(card)
                elif isinstance(part, ToolResult):
                    updates, found = _returned(conversation, open_cards.pop(part.call_id, None), part)
                    plan = plan if found is None else found
                else:
                    updates = _spoken(conversation, f"{name}-{place}", part)
                for update in updates:
                    yield update
    if plan is not None:
        yield shapes.plan(plan)


def _returned(
    conversation: "Conversation", card: Card | None, result: ToolResult
) -> tuple[list[Update], Sequence[Mapping[str, str]] | None]:
    """Return what came of a call, and the plan that it is."""
    if card is None:
        return [], None
    card.blocks, card.failed = blocks_of(result.parts), result.failed
    return conversation.shapes.ended(card), plan_in(card.call, result)


def _spoken(conversation: "Conversation", name: str, part: Part) -> list[Update]:
    if isinstance(part, Reasoning):
        return [conversation.shapes.piece("agent_thought", name, text(part.text))] if part.text else []
    return [conversation.shapes.piece("agent_message", name, block) for block in blocks_of([part])]
