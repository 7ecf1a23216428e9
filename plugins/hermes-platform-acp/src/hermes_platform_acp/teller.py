"""Tells an editor what happens in a turn."""

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

from hermes_core.errors import HermesError
from hermes_core.types import (
    Called,
    Ended,
    Event,
    Failed,
    Feature,
    Noticed,
    Progress,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolRow,
    Used,
)
from hermes_platform_acp.blocks import blocks_of, text
from hermes_platform_acp.cards import Card, card_of, edits_of, files_of, plan_of, read_file

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Teller", "card_for", "plan_in"]

_OFTEN = 0.1  # seconds between two looks at what a command writes
_KEPT = 64_000  # characters of a running command's output that are kept
_ROWS = "tools"  # in the plugin's state: what tools there are, by name


class Teller:
    """One turn. ``reason`` is why it ended, ``failure`` how it failed; ``began`` once anything happened in it."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation, self._ctx, self._shapes = conversation, conversation.ctx, conversation.shapes
        self.began = self.over = False
        self.reason = "end_turn"
        self.failure: Failed | None = None
        self._speaking: tuple[str, str] = ("", "")
        self._shown = False
        self._cards: dict[str, tuple[Card, Mapping[str, str | None]]] = {}
        self._unsaid: dict[str, str] = {}
        self._said_at = 0.0

    async def tell(self, event: Event) -> None:
        """Tell one event."""
        self.began = True
        match event:
            case Said(text=words):
                self._shown = True
                await self._piece("agent_message", words)
            case Thinking(text=words):
                await self._piece("agent_thought", words)
            case Noticed(text=words):
                self._pause()
                await self._piece("agent_thought", words)
                self._pause()
            case Called(call=call):
                await self._called(call)
            case Progress(call_id=name, text=words):
                await self._wrote(name, words)
            case Returned(call=call, result=result):
                await self._returned(call, result)
            case Used() if event.window:
                cost = event.usage.cost
                await self._send(self._shapes.usage(event.context, event.window, cost))
            case Failed():
                self.failure = event
            case Ended():
                await self._ended(event)
            case Started():
                pass

    async def _send(self, *updates: dict[str, object]) -> None:
        await self._conversation.send(*updates)

    def _pause(self) -> None:
        self._speaking = ("", "")

    async def _piece(self, who: str, words: str) -> None:
        if not words:
            return
        if self._speaking[0] != who:
            self._speaking = who, self._conversation.new_name()
        await self._send(self._shapes.piece(who, self._speaking[1], text(words)))  # type: ignore[arg-type]

    async def _called(self, call: ToolCall) -> None:
        self._pause()
        card = await card_for(self._conversation, call)
        before = await self._look(card)
        self._cards[call.id] = card, before
        await self._send(*self._shapes.begun(card))

    async def _look(self, card: Card) -> Mapping[str, str | None]:
        """Read the files that a call is about to change, where they are files of this machine."""
        paths = files_of(card.call, card.cwd) if card.kind == "edit" else []
        if not paths or not await self._here():
            return {}
        return {path: await asyncio.to_thread(read_file, path) for path in paths[:20]}

    async def _here(self) -> bool:
        try:
            place = await self._ctx.host.turns.workspace(self._conversation.session)
        except HermesError:
            return False
        return Feature.LOCAL in place.features

    async def _wrote(self, name: str, words: str) -> None:
        if name not in self._cards:
            return
        card, _ = self._cards[name]
        card.output = (card.output + words)[-_KEPT:]
        self._unsaid[name] = self._unsaid.get(name, "") + words
        if monotonic() - self._said_at >= _OFTEN:
            self._said_at = monotonic()
            await self._flush(name)

    async def _flush(self, name: str) -> None:
        if words := self._unsaid.pop(name, ""):
            await self._send(*self._shapes.output(self._cards[name][0], words))

    async def _returned(self, call: ToolCall, result: ToolResult) -> None:
        self._pause()
        card, before = self._cards.pop(call.id, (None, {}))
        self._unsaid.pop(call.id, None)
        if card is None:  # it was called before this process took the turn up
            card = await card_for(self._conversation, call)
            await self._send(*self._shapes.begun(card))
        card.blocks, card.failed = blocks_of(result.parts), result.failed
        if before and not result.failed:
            after = {path: await asyncio.to_thread(read_file, path) for path in before}
            card.edits = tuple(edits_of(call, card.cwd, before, after))
        await self._send(*self._shapes.ended(card))
        if (plan := plan_in(call, result)) is not None:
            await self._send(self._shapes.plan(plan))

    async def _ended(self, event: Ended) -> None:
        self.over = True
        if event.reason == "interrupted":
            self.reason = "cancelled"
        for name, (card, _) in list(self._cards.items()):  # nothing comes of them any more
            await self._flush(name)
            card.failed = True
            await self._send(*self._shapes.ended(card))
        self._cards.clear()
        if event.answer and not self._shown:
            await self._piece("agent_message", event.answer)
        if event.note:
            self._pause()
            await self._piece("agent_message", event.note)
        if self.failure and self.failure.kind == "refused":
            await self._piece("agent_message", self.failure.text)
            self.reason, self.failure = "refusal", None


async def card_for(conversation: "Conversation", call: ToolCall) -> Card:
    """Return the card of a call, with a name that no other call of the session has."""
    rows: dict[str, ToolRow] = conversation.ctx.state.setdefault(_ROWS, {})
    if call.name not in rows:
        try:
            rows.update({row.name: row for row in await conversation.ctx.plugins.tools("acp")})
        except HermesError:
            rows = {}
    name, number = call.id, 1
    while name in conversation.cards:
        number += 1
        name = f"{call.id}~{number}"
    card = card_of(name, call, rows.get(call.name), conversation.session.cwd)
    conversation.calls[call.id], conversation.cards[name] = name, card
    return card


def plan_in(call: ToolCall, result: ToolResult) -> list[Mapping[str, str]] | None:
    """Return the plan of a session, where a call was about it."""
    if call.name != "todo" or result.failed:
        return None
    return plan_of("\n".join(part.text for part in result.parts if isinstance(part, Text)))
