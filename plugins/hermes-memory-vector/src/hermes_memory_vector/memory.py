"""The memory ``vector``: what it keeps, and what of that is told with a message."""

import asyncio
from collections.abc import Mapping, Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Memory
from hermes_core.types import Memo, Message, Principal, Session, Source
from hermes_memory_kit.order import Candidate, best_first
from hermes_memory_kit.turns import Looks, said, statements
from hermes_memory_kit.words import kept_words
from hermes_memory_vector.config import Config
from hermes_memory_vector.meaning import Meaning, likeness
from hermes_memory_vector.rows import Row, Rows, id_of

__all__ = ["VectorMemory"]

_LONGEST = 4_000  # characters of a memo
_QUERY = 1_000  # characters of a message that are looked for
_ALIKE = 0.8  # two memos mean about the same


class VectorMemory(Memory):
    """Memos in the store, found by meaning and by words. Nothing is shared between people."""

    name = "vector"

    def __init__(self, ctx: PluginContext) -> None:
        self._config: Config = ctx.config or Config()
        self._rows = Rows(ctx.store)
        self.meaning = Meaning(ctx, self._rows)
        self._masks, self._looks = ctx.masks, Looks()

    @classmethod
    def of(cls, ctx: PluginContext) -> "VectorMemory":
        """Return the one of a kernel."""
        made: VectorMemory = ctx.state.setdefault("memory", None) or cls(ctx)
        ctx.state["memory"] = made
        return made

    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. Raises ToolError for what is empty or too long."""
        if not text.strip():
            raise ToolError("There is nothing to remember: the text is empty.")
        if len(text) > _LONGEST:
            raise ToolError(f"A memory has at most {_LONGEST:,} characters.", hint="Say it shorter, or in parts.")
        memo = Memo(id=id_of(text), text=text, source=source)
        return await self._rows.add(owner, memo, kept_words(text), self._config.most)

    async def search(self, owner: Principal, query: str, limit: int) -> Sequence[Memo]:
        """Return what fits, best first; of what says something of the same thing the newest first."""
        return await self._found(owner, query, limit) if limit > 0 else []

    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Let go of a memo and its vector."""
        await self._rows.forget(owner, memo_id)

    async def erase(self, owner: Principal) -> int:
        """Let go of all of an owner's."""
        return await self._rows.erase(owner)

    async def prefetch(self, session: Session, message: Message) -> Sequence[Memo]:
        """Return what is near to a message and was not said in this session: that its model knows."""
        query = said(message)[:_QUERY]
        if not query or not self._config.told:
            return []
        found = await self._found(session.owner, query, 4 * self._config.told, session)
        return [one for one in found if one.source.session_id != session.id][: self._config.told]

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Keep what the person stated, and make the vectors that are missing."""
        if self._config.learn:
            for text in statements(self._looks.new(session.id, messages)):
                if self._masks.text(text) == text:  # no secret is kept here
                    await self.add(session.owner, text, Source(by="user", session_id=session.id))
            self._looks.looked(session.id, messages)
        await self.meaning.fill(session.owner, session)

    async def _found(self, owner: Principal, query: str, limit: int, session: Session | None = None) -> Sequence[Memo]:
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
        return best_first(query, candidates, self._config.near, alike)[:limit]
