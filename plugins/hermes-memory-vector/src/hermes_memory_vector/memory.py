"""The memory ``vector``: what it keeps, and what of that is told with a message."""

import asyncio
from collections.abc import Mapping, Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Memo, Message, Principal, Session, Source
from hermes_memory_kit.order import Candidate, best_first
from hermes_memory_kit.own import OwnMemory, checked
from hermes_memory_kit.turns import Looks, statements
from hermes_memory_kit.words import kept_words
from hermes_memory_vector.config import Config
from hermes_memory_vector.meaning import Meaning, likeness
from hermes_memory_vector.rows import Row, Rows, id_of

__all__ = ["VectorMemory"]

_ALIKE = 0.8  # two memos mean about the same


class VectorMemory(OwnMemory):
    """Memos in the store, found by meaning and by words. Nothing is shared between people."""

    name = "vector"

    def __init__(self, ctx: PluginContext) -> None:
        self.settings: Config = ctx.config or Config()
        self._rows = Rows(ctx.store)
        self.meaning = Meaning(ctx, self._rows)
        self._masks, self._looks = ctx.masks, Looks()

    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. Raises ToolError for what is empty or too long."""
        checked(text)
        memo = Memo(id=id_of(text), text=text, source=source)
        return await self._rows.add(owner, memo, kept_words(text), self.settings.most)

    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Let go of a memo and its vector."""
        await self._rows.forget(owner, memo_id)

    async def erase(self, owner: Principal) -> int:
        """Let go of all of an owner's."""
        return await self._rows.erase(owner)

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Keep what the person stated, and make the vectors that are missing."""
        if self.settings.learn:
            for text in statements(self._looks.new(session.id, messages)):
                if self._masks.text(text) == text:  # no secret is kept here
                    await self.add(session.owner, text, Source(by="user", session_id=session.id))
            self._looks.looked(session.id, messages)
        await self.meaning.fill(session.owner, session)

    async def found(self, owner: Principal, query: str, limit: int, session: Session | None = None) -> Sequence[Memo]:
        """See ``OwnMemory``."""
        rows = await self._rows.all(owner)
        if not query.strip():
            return [row.memo for row in rows[:limit]]
        wanted, vectors = await self.meaning.of(owner, query, rows, session) if rows else (b"", {})
        return await asyncio.to_thread(self._ranked, query, rows, wanted, vectors, limit)

    def _ranked(
        self, query: str, rows: Sequence[Row], wanted: bytes, vectors: Mapping[str, bytes], limit: int
    ) -> Sequence[Memo]:
        made = [vectors.get(row.memo.id, b"") for row in rows]
        near = likeness(wanted, made) if wanted else [None] * len(rows)
        by_id = {row.memo.id: vector for row, vector in zip(rows, made, strict=True) if vector}

        def alike(one: Memo, other: Memo) -> bool:
            return likeness(by_id.get(one.id, b""), [by_id.get(other.id, b"")])[0] >= _ALIKE

        candidates = [
            Candidate(memo=row.memo, words=row.words, time=row.time, near=close)
            for row, close in zip(rows, near, strict=True)
        ]
        return best_first(query, candidates, self.settings.near, alike)[:limit]
