"""A screen in a process that knows a host alone: what it shows is asked of the platform of the same name there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from hermes_core.errors import UnknownName
from hermes_core.types import Hit, Message, Principal, Session, SessionRow, Usage, UsageRow
from hermes_platform_kit.fronted import Ways
from hermes_platform_kit.spoken import session_of_json
from hermes_platform_tui.config import Config

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_platform_tui.platform import Tui

__all__ = ["Around", "Distant", "make"]


class Paths(NamedTuple):
    """The folders that a screen reads."""

    home: Path
    data: Path


class Distant:
    """What a screen has of Hermes before a kernel is opened for it; ``services`` are the names that plugins offer."""

    def __init__(self, ways: Ways) -> None:
        self.owner, self.open, self.ask = ways.owner, ways.open, ways.ask
        self.paths = Paths(Path(ways.shown["home"]), Path(ways.shown["data"]))
        self.services: Sequence[str] = ways.shown["services"]
        self.sessions = DistantSessions(ways.ask, ways.open)

    async def screens_of(self, service: str) -> Sequence[str]:
        """Return the names of the screens that a service has. Raises HermesError."""
        found: Sequence[str] = await self.ask("screens", {"service": service})
        return found


Around: TypeAlias = "PluginContext | Distant"
"""What surrounds a screen: all that a plugin gets, or what is known of it elsewhere."""


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
        from hermes_core.codec import message_from_json

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
        return [Hit(**one) for one in await self._ask("search", {"words": words, "limit": limit, "sort": sort})]

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


def make(ways: Ways) -> "Tui":
    """Make the platform of a process that knows a host alone. Raises KeyError and TypeError for what is none."""
    from hermes_platform_tui.platform import Tui

    return Tui(Config(**ways.shown["config"]), Distant(ways))
