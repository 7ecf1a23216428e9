"""Messages of a session as entries, page by page from the end."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hermes_core.types import Blob, Message, Reasoning, Text, ToolCall, ToolResult
from hermes_platform_tui.transcript.entries import Action, Entry, Remark, Speech, Thought

if TYPE_CHECKING:
    from hermes_platform_tui.distant import Around

__all__ = ["History"]


class History:
    """One session's messages, read backwards. ``oldest`` is the number of the first that was read."""

    def __init__(self, ctx: "Around", session: str) -> None:
        self._sessions, self._owner, self._session = ctx.sessions, ctx.owner, session
        self.oldest = 0
        self._orphans: dict[str, Action] = {}  # results whose call is on a page that was not read yet

    @property
    def more(self) -> bool:
        """Whether there are older ones."""
        return self.oldest > 1

    async def newest(self, count: int) -> list[Entry]:
        """The last ``count`` messages. Raises UnknownName."""
        pairs = await self._sessions.read(self._owner, self._session, window=max(1, count))
        self.oldest = pairs[0][0] if pairs else 0
        return self._entries(pairs)

    async def older(self, window: int = 12) -> list[Entry]:
        """About twice ``window`` messages that come before those that were read. Raises UnknownName."""
        last = self.oldest - 1
        if last < 1:
            return []
        around = max(1, last - window)
        size = max(window, last - around)
        pairs = await self._sessions.read(self._owner, self._session, around=around, window=size)
        pairs = [(number, message) for number, message in pairs if number <= last]
        self.oldest = pairs[0][0] if pairs else 0  # a page without anything: there is nothing older after all
        return self._entries(pairs)

    def _entries(self, pairs: Sequence[tuple[int, Message]]) -> list[Entry]:
        calls: dict[str, Action] = {}
        made = [entry for number, message in pairs for entry in self._of(number, message, calls)]
        merged = set[Entry]()
        for action in calls.values():
            if action.over:
                continue
            if waiting := self._orphans.pop(action.call.id, None):
                waiting.call = action.call
                merged.add(action)
            else:
                action.state = "stopped"
        return [entry for entry in made if entry not in merged]

    def _of(self, number: int, message: Message, calls: dict[str, Action]) -> Iterable[Entry]:
        blobs = [part for part in message.parts if isinstance(part, Blob)]
        who = "person" if message.role == "user" else "model"
        texts = [part for part in message.parts if isinstance(part, Text)]
        ordered = who == "person" and not blobs and all(part.quotes for part in texts)  # by a plugin, for what ended
        for part in message.parts:
            match part:
                case Reasoning() if part.text.strip():
                    yield Thought(number=number, said=Speech.of("model", part.text))
                case Text() if part.text.strip() or (blobs and who == "person"):
                    if message.role == "system" or ordered or (who == "person" and "hermes" in message.meta):
                        yield Remark(kind="note", number=number, text=Speech.of("house", part.text).text)
                        continue
                    yield Speech.of("person" if who == "person" else "model", part.text, blobs, number=number)
                    blobs = []
                case ToolCall():
                    calls[part.id] = Action(call=part, number=number)
                    yield calls[part.id]
                case ToolResult():
                    yield from self._result(number, part, calls)
        if blobs:
            yield Speech.of("person" if who == "person" else "model", "", blobs, number=number)

    def _result(self, number: int, result: ToolResult, calls: dict[str, Action]) -> Iterable[Entry]:
        action = calls.get(result.call_id)
        if action is None:
            call = ToolCall(id=result.call_id, name=result.name, arguments={})
            action = self._orphans[result.call_id] = Action(call=call, number=number)
            yield action
        action.end(result, None)
