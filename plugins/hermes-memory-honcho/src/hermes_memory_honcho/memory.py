"""The memory ``honcho``: what it keeps on a server, and what of that is told."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from hashlib import blake2b
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.types import Memo, Message, Principal, Session, Source
from hermes_memory_honcho.config import Config
from hermes_memory_honcho.server import Workspace, opened
from hermes_memory_honcho.sources import Sources, hash_of
from hermes_memory_kit.order import Candidate, best_first
from hermes_memory_kit.own import OwnMemory, checked
from hermes_memory_kit.turns import Looks, spoken
from hermes_memory_kit.words import kept_words

__all__ = ["HonchoMemory"]

_QUICK, _SLOW = 2.0, 25.0  # seconds for one request: while a turn waits, and beside it
_STEP = 0.01  # of one place to the next, where the server says an order and no numbers


class HonchoMemory(OwnMemory):
    """What a server of Honcho knows of each person, a workspace for each. Nothing is shared between people."""

    name = "honcho"

    def __init__(self, ctx: PluginContext) -> None:
        self.settings: Config = ctx.config or Config()
        self._resolve, self._masks = ctx.secrets.resolve, ctx.masks
        self._sources, self._looks = Sources(ctx.store), Looks()

    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. Raises ToolError."""
        checked(text)
        fresh = await self._sources.keep(owner, text, source)  # first: what is kept there is never taken for trusted
        async with self._open(owner) as workspace:
            known = () if fresh else await workspace.everything()
            there = next((one for one in known if one.content == text), None) or await workspace.add(text)
        return await self._memo(owner, there)

    async def found(self, owner: Principal, query: str, limit: int, session: Session | None = None) -> Sequence[Memo]:
        """See ``OwnMemory``."""
        async with self._open(owner) as workspace:
            if query.strip():
                found = await workspace.near(query, 4 * limit, 1 - self.settings.near)
            else:
                found = await workspace.everything()
        return (await self._ordered(owner, query, found))[:limit]

    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Let go of a conclusion, there and where it is from. Forgetting twice is quiet."""
        async with self._open(owner) as workspace:
            for one in await workspace.everything():
                if one.id == memo_id:
                    await workspace.forget(memo_id)
                    await self._sources.forget(owner, one.content)

    async def erase(self, owner: Principal) -> int:
        """Let go of the workspace of a person: what was said, what was thought about it, who they are."""
        async with self._open(owner, _SLOW) as workspace:
            many = len(await workspace.everything())
            await workspace.erase()
        await self._sources.erase(owner)
        return many

    async def brief(self, session: Session) -> str:
        """Say who the person is, as the server put it together."""
        async with self._open(session.owner) as workspace:
            card = await workspace.card()
        return "\n".join(["What is known of the person:", *(f"- {line}" for line in card)]) if card else ""

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Send what was said since the last look."""
        if not self.settings.learn:
            return
        turns = [one for message in self._looks.new(session.id, messages) if (one := self._turn(message))]
        if turns:
            async with self._open(session.owner, _SLOW) as workspace:
                await workspace.tell(session.id, turns)
        self._looks.looked(session.id, messages)

    def _turn(self, message: Message) -> tuple[bool, str] | None:
        text = spoken(message, self._masks.text)
        return (message.role == "user", text) if text else None

    async def _ordered(self, owner: Principal, query: str, found: Sequence[Any]) -> list[Memo]:
        sources = await self._sources.all(owner)
        memos = [_memo(one, sources.get(hash_of(one.content))) for one in found]
        if not query.strip():
            return memos
        candidates = [
            Candidate(
                memo=memo,
                words=kept_words(memo.text),
                time=one.created_at.timestamp(),
                near=max(1 - _STEP * place, 0.0),
            )
            for place, (memo, one) in enumerate(zip(memos, found, strict=True))
        ]
        return best_first(query, candidates, 0.0)

    async def _memo(self, owner: Principal, one: Any) -> Memo:
        return _memo(one, (await self._sources.all(owner)).get(hash_of(one.content)))

    def _open(self, owner: Principal, seconds: float = _QUICK) -> AbstractAsyncContextManager[Workspace]:
        whose = blake2b(f"{owner.profile}\0{owner.person}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        return opened(self.settings, self._resolve(self.settings.api_key), whose, seconds)


def _memo(one: Any, source: Source | None) -> Memo:
    thought = Source(by="honcho", session_id=one.session_id or "")
    return Memo(id=one.id, text=one.content, source=source or thought)
