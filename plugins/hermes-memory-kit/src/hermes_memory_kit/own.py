"""A memory of each person's own: one for a kernel, which tells with a message what is near to it."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol, Self

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Memory
from hermes_core.types import Memo, Message, Principal, Session
from hermes_memory_kit.turns import said

__all__ = ["OwnMemory", "Telling", "checked"]

_LONGEST = 4_000  # characters of a memo
_QUERY = 1_000  # characters of a message that are looked for


class Telling(Protocol):
    """The settings of such a memory."""

    @property
    def told(self) -> int: ...


class OwnMemory(Memory):
    """Finds with ``found``, and tells what was not said in the session itself: that its model knows."""

    settings: Telling

    @abstractmethod
    def __init__(self, ctx: PluginContext) -> None: ...

    @classmethod
    def of(cls, ctx: PluginContext) -> Self:
        """Return the one of a kernel."""
        made: Self = ctx.state.setdefault("memory", None) or cls(ctx)
        ctx.state["memory"] = made
        return made

    @abstractmethod
    async def found(self, owner: Principal, query: str, limit: int, session: Session | None = None) -> Sequence[Memo]:
        """Return what fits, best first; of what says something of the same thing the newest first."""

    async def search(self, owner: Principal, query: str, limit: int) -> Sequence[Memo]:
        """Return what fits, best first; of what says something of the same thing the newest first."""
        return await self.found(owner, query, limit) if limit > 0 else []

    async def prefetch(self, session: Session, message: Message) -> Sequence[Memo]:
        """Return what is near to a message and was not said in this session: that its model knows."""
        query, told = said(message)[:_QUERY], self.settings.told
        if not query or not told:
            return []
        found = await self.found(session.owner, query, 4 * told, session)
        return [one for one in found if one.source.session_id != session.id][:told]


def checked(text: str) -> None:
    """Raise ToolError for a text that is no memo: it is empty, or too long."""
    if not text.strip():
        raise ToolError("There is nothing to remember: the text is empty.")
    if len(text) > _LONGEST:
        raise ToolError(f"A memory has at most {_LONGEST:,} characters.", hint="Say it shorter, or in parts.")
