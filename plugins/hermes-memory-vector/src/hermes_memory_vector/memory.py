"""The memory ``vector``: what it keeps, and what of that is told with a message."""

import asyncio
from collections.abc import Mapping, Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Memory
from hermes_core.types import Memo, Message, Principal, Session, Source
from hermes_memory_kit.order import newest_first
from hermes_memory_kit.turns import said, statements
from hermes_memory_kit.words import Wanted, kept_words
from hermes_memory_vector.config import Config
from hermes_memory_vector.meaning import Meaning, likeness
from hermes_memory_vector.rows import Row, Rows, id_of

__all__ = ["VectorMemory"]

_LONGEST = 4_000  # characters of a memo
_QUERY = 1_000  # characters of a message that are looked for
_HALF = 0.5  # of what is asked for, in words, for a memo to be found by them
_ALIKE, _SHARED = 0.8, 0.6  # two memos are about the same thing: by meaning, by words
_CLOSE = 0.1  # and they fit a question about as well
_DEPTH = 60  # the first so many are put in order among themselves


class VectorMemory(Memory):
    """Memos in the store, found by meaning and by words. Nothing is shared between people."""

    name = "vector"

    def __init__(self, ctx: PluginContext) -> None:
        self._config: Config = ctx.config or Config()
        self._rows = Rows(ctx.store)
        self.meaning = Meaning(ctx, self._rows)
        self._masks = ctx.masks

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
            for text in statements(messages):
                if self._masks.text(text) == text:  # no secret is kept here
                    await self.add(session.owner, text, Source(by="user", session_id=session.id))
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
        asked = Wanted(query)
        near = likeness(wanted, [vectors.get(row.memo.id, b"") for row in rows])
        found = []
        for row, close in zip(rows, near, strict=True):
            share = asked.share(row.memo.text, row.words)
            if share >= _HALF or close >= self._config.near:
                score = (share + max(close, 0.0)) / 2 if wanted else share
                found.append(evolve(row, memo=evolve(row.memo, score=score), vector=vectors.get(row.memo.id, b"")))
        found.sort(key=lambda row: (-row.memo.score, -row.time))
        first = newest_first(found[:_DEPTH], _alike, lambda row: row.time)
        return [row.memo for row in (*first, *found[_DEPTH:])][:limit]


def _alike(one: Row, other: Row) -> bool:
    """Tell whether two are about the same thing: they answer the question about as well, and are near to each other."""
    if abs(one.memo.score - other.memo.score) > _CLOSE:
        return False
    if likeness(one.vector, [other.vector])[0] >= _ALIKE:
        return True
    mine, theirs = set(one.words.split()), set(other.words.split())
    return len(mine & theirs) >= _SHARED * max(len(mine), len(theirs), 1)
