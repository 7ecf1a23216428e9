"""Past conversations for a screen in a process that knows a host alone; ``told`` is what answers there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hermes_core.codec import message_from_json
from hermes_core.errors import UnknownName
from hermes_core.types import Hit, Message, Principal, Session, SessionRow, Usage, UsageRow
from hermes_platform_kit.spoken import session_of_json

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["DistantSessions"]


class DistantSessions:
    """Past conversations, of a host. As the SessionsBroker of a context, in what a screen asks of that."""

    def __init__(
        self,
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Any]],
        open_: Callable[[], Awaitable["PluginContext"]],
    ) -> None:
        self._ask, self._open = ask, open_

    async def get(self, owner: Principal, session_id: str) -> Session:
        """Return a session. Raises UnknownName."""
        told = await self._ask("get", {"session": session_id})
        if told is None:
            raise UnknownName("session", session_id)
        return session_of_json(told, owner)

    async def rows(self, owner: Principal, *, limit: int = 20) -> Sequence[SessionRow]:
        """Return sessions as lists show them."""
        return [_row(one, owner) for one in await self._ask("rows", {"limit": limit})]

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Return messages with their numbers. What is too large for the way to the host is read here."""
        told = await self._ask("read", {"session": session_id, "around": around, "window": window})
        if told is None:
            raise UnknownName("session", session_id)
        if told == "large":
            return await (await self._open()).sessions.read(owner, session_id, around=around, window=window)
        return [(number, message_from_json(one)) for number, one in told]

    async def search(
        self, _owner: Principal, words: str, *, limit: int = 10, sort: Literal["best", "newest", "oldest"] = "best"
    ) -> Sequence[Hit]:
        """Return messages that hold the words."""
        told = await self._ask("search", {"words": words, "limit": limit, "sort": sort})
        return [Hit(**{**one, "tools": tuple(one["tools"])}) for one in told]

    async def usage(self, _owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        """Return what was used on each of the last days."""
        told = await self._ask("usage", {"days": days})
        return [UsageRow(**{**one, "usage": Usage(**one["usage"])}) for one in told]

    async def rename(self, owner: Principal, session_id: str, title: str) -> Session:
        """Give one another title."""
        return session_of_json(await self._ask("rename", {"session": session_id, "title": title}), owner)

    async def delete(self, _owner: Principal, session_id: str) -> None:
        """Delete one."""
        await self._ask("delete", {"session": session_id})

    async def fork(self, owner: Principal, session_id: str) -> Session:
        """Make a new one with the same history."""
        return session_of_json(await self._ask("fork", {"session": session_id}), owner)


def _row(told: Mapping[str, Any], owner: Principal) -> SessionRow:
    more = {"session": session_of_json(told["session"], owner), "usage": Usage(**told["usage"])}
    return SessionRow(**{**told, **more})
