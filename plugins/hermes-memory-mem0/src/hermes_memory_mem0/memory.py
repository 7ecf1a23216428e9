"""The memory ``mem0``: what it keeps, and what of that is told with a message."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.types import Memo, Message, Principal, Session, Source
from hermes_memory_kit.order import Candidate, best_first
from hermes_memory_kit.own import OwnMemory, checked
from hermes_memory_kit.turns import Looks, spoken
from hermes_memory_kit.words import kept_words
from hermes_memory_mem0.config import Config

__all__ = ["Mem0Memory"]

T = TypeVar("T")
_DEPTH = 60
_LOOK = 12_000  # characters of a turn that a model takes facts out of, the last ones


class Mem0Memory(OwnMemory):
    """Facts kept by mem0, a folder for each person. Nothing is shared between people."""

    name = "mem0"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self.settings: Config = ctx.config or Config()
        self._looks = Looks()
        self._alone = asyncio.Lock()

    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something as it is said. Raises ToolError."""
        checked(text)
        models = self._models()
        return _memo(await self._work(lambda: self._folder(owner).add(models, text, _about(source))))

    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Let go of a memo; its bytes go with it."""
        await self._work(lambda: self._folder(owner).forget(memo_id))

    async def erase(self, owner: Principal) -> int:
        """Let go of all of an owner's."""
        return await self._work(lambda: self._folder(owner).erase())

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Have a model take facts out of what was said since the last look."""
        if not self.settings.learn:
            return
        turns = [one for message in self._looks.new(session.id, messages) if (one := self._turn(message))]
        if turns:
            models, about = self._models(session), _about(Source(by="mem0", session_id=session.id))
            await self._work(lambda: self._folder(session.owner).learn(models, _last(turns), about))
        self._looks.looked(session.id, messages)

    def _turn(self, message: Message) -> dict[str, str] | None:
        text = spoken(message, self._ctx.masks.text)
        return {"role": message.role, "content": text} if text else None

    async def found(self, owner: Principal, query: str, limit: int, session: Session | None = None) -> Sequence[Memo]:
        """See ``OwnMemory``."""
        folder = self._folder(owner)
        if not query.strip():
            kept = await self._work(folder.everything)
            return [_memo(one) for one in sorted(kept, key=_when, reverse=True)][:limit]
        models = self._models(session)
        kept, near = await self._work(lambda: folder.found(models, query, _DEPTH))
        candidates = [
            Candidate(
                memo=_memo(one), words=kept_words(one["memory"]), time=_when(one), near=near.get(str(one["id"]), 0.0)
            )
            for one in kept
        ]
        return best_first(query, candidates, self.settings.near)[:limit]

    def _folder(self, owner: Principal) -> "Any":
        from hermes_memory_mem0.engine import Folder

        key = blake2b(f"{owner.profile}\0{owner.person}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        return Folder(self._ctx.paths.data / key)

    def _models(self, session: Session | None = None) -> "Any":
        from hermes_memory_mem0.models import Models

        return Models(self._ctx, session)

    async def _work(self, work: Callable[[], T]) -> T:
        """Do something in a thread, one at a time. Raises ToolError."""
        async with self._alone:
            try:
                return await asyncio.to_thread(work)
            except ToolError:
                raise
            except HermesError as error:
                raise ToolError(f"mem0 needs models that do not answer: {error.text}", hint=error.hint) from None
            except Exception as error:  # noqa: BLE001 - mem0 and Qdrant raise many, and none is of Hermes
                text = self._ctx.masks.text(f"mem0 failed: {type(error).__name__}: {error}")
                raise ToolError(text[:500], hint="hermes doctor --deep says more.") from None


def _about(source: Source) -> dict[str, Any]:
    return {"by": source.by, "session": source.session_id, "trusted": source.trusted}


def _memo(one: Mapping[str, Any]) -> Memo:
    about = one.get("metadata") or {}
    source = Source(
        by=str(about.get("by", "mem0")),
        session_id=str(about.get("session", "")),
        trusted=about.get("trusted") is True,
    )
    return Memo(id=str(one["id"]), text=str(one["memory"]), source=source)


def _when(one: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(one.get("updated_at") or one.get("created_at"))).timestamp()
    except ValueError:
        return 0.0


def _last(turns: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The last turns that fit, the very last one cut where it does not."""
    kept, left = list[dict[str, str]](), _LOOK
    for one in reversed(turns):
        if left <= 0:
            break
        kept.append({**one, "content": one["content"][:left]})
        left -= len(one["content"])
    return kept[::-1]
