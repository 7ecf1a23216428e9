"""What a model is told of a session's past, as the plugins have it that rewrite it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.brokers import HistoryBroker
from hermes_core.types import Message, Principal

if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime

__all__ = ["History"]


class History(HistoryBroker):
    """The contexts of one kernel. ``label`` is of the plugin whose they become."""

    def __init__(self, runtime: "Runtime", label: str) -> None:
        self._runtime, self._label = runtime, label

    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        store = await self._runtime.store()
        return await store.history.load((await store.sessions.get(session_id, owner)).id)

    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        store = await self._runtime.store()
        session = await store.sessions.get(session_id, owner)
        await self._runtime.memory.compacting(session, await store.history.load(session.id))
        await store.history.replace(owner, session_id, messages, self._label)
