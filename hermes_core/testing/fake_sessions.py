"""Past conversations without a kernel behind them, for plugins under test."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from hermes_core.control import SessionsBroker
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.types import (
    HistoryEntry,
    Hit,
    Message,
    MessageTrace,
    Principal,
    Session,
    SessionRow,
    Spent,
    Text,
    Usage,
    UsageRow,
)

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeSessions"]

_ARCHIVED = "(archived)"


class FakeSessions(SessionsBroker):
    """Keeps sessions while it lives: ``known`` has each with its messages, by id. ``usage_rows`` is what was used.

    ``used`` is that in sum. With a ``manifest`` its permissions are asked for. No tool was called, and nothing left a
    trace.
    """

    def __init__(self, manifest: "Manifest | None" = None) -> None:
        self.known: dict[str, tuple[Session, list[Message]]] = {}
        self.usage_rows: Sequence[UsageRow] = ()
        self.used = Spent(usage=Usage())
        self._manifest, self._ids = manifest, count(1)

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: Literal["best", "newest", "oldest"] = "best",
        children: bool = False,
        session_id: str = "",
    ) -> Sequence[Hit]:
        """Messages that hold the words as they are."""
        self._require("sessions.read")
        hits = []
        for session, messages in self._of(owner):
            for number, message in enumerate(messages, 1):
                text = "".join(part.text for part in message.parts if isinstance(part, Text))
                if words.casefold() in text.casefold() and session_id in ("", session.id):
                    given: Any = {"session_id": session.id, "message_id": number, "title": session.title}
                    hits.append(Hit(**given, role=message.role, snippet=text, created=0.0))
        return hits[:limit]

    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        """The newest first."""
        self._require("sessions.read")
        zero: Any = {"tool_calls": 0, "updated": 0.0, "usage": Usage(), "preview": "", "state": "idle"}
        found = [one for one in reversed(self._of(owner)) if origin in ("", one[0].origin)]
        found = [one for one in found if children or one[0].parent != _ARCHIVED]
        return [SessionRow(session=session, messages=len(said), **zero) for session, said in found][:limit]

    async def get(self, owner: Principal, session_id: str) -> Session:
        """One of those that were made."""
        return self._found(owner, session_id)[0]

    async def find(self, owner: Principal, words: str) -> Session:
        """By its id or its title."""
        self._require("sessions.read")
        for session, _ in self._of(owner):
            if words in (session.id, session.title):
                return session
        raise UnknownName("session", words)

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Its messages, numbered from 1."""
        numbered = list(enumerate(self._found(owner, session_id)[1], 1))
        return numbered[max(0, around - window - 1) : around + window] if around else numbered[-window:]

    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        """All of them."""
        return list(self._found(owner, session_id)[1])

    async def prompt(self, owner: Principal, session_id: str) -> str:
        """None was built."""
        self._found(owner, session_id)
        return ""

    async def tool_history(
        self, owner: Principal, session_id: str = "", *, tool: str = "", limit: int = 50
    ) -> Sequence[HistoryEntry]:
        """Nothing was called."""
        self._require("sessions.read")
        return ()

    async def traces(
        self, owner: Principal, word: str = "latest", *, everybody: bool = False
    ) -> Sequence[MessageTrace]:
        """There is none."""
        self._require("sessions.read")
        return ()

    async def usage(self, owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        """What a test put in."""
        self._require("sessions.read")
        return self.usage_rows

    async def spent(self, owner: Principal, *, session_id: str = "", since: float = 0.0) -> Spent:
        """What a test put in."""
        self._require("sessions.read")
        return self.used

    async def create(
        self,
        owner: Principal,
        session_id: str = "",
        *,
        title: str = "",
        system: str = "",
        history: Sequence[Message] = (),
    ) -> Session:
        """Keep it. Raises UserError for an id that is taken."""
        self._require("sessions.write")
        name = session_id or f"session-{next(self._ids)}"
        if name in self.known:
            raise UserError(f"The name {name} cannot be used here.")
        made = Session(id=name, origin="fake", owner=owner, title=title)
        self.known[name] = (made, list(history))
        return made

    async def fork(self, owner: Principal, session_id: str, *, upto: str = "", title: str = "") -> Session:
        """A copy of the whole."""
        self._require("sessions.write")
        return await self.create(owner, title=title, history=self._found(owner, session_id)[1])

    async def rename(self, owner: Principal, session_id: str, title: str) -> Session:
        """Keep its title."""
        self._require("sessions.write")
        session, messages = self._found(owner, session_id)
        self.known[session_id] = (evolve(session, title=title), messages)
        return self.known[session_id][0]

    async def archive(self, owner: Principal, session_id: str, *, back: bool = False) -> None:
        """Keep it out of the list."""
        self._require("sessions.write")
        session, messages = self._found(owner, session_id)
        self.known[session_id] = (evolve(session, parent="" if back else _ARCHIVED), messages)

    async def delete(self, owner: Principal, session_id: str, *, erased: bool = False) -> None:
        """Forget it."""
        self._require("sessions.write")
        self._found(owner, session_id)
        del self.known[session_id]

    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        """None is old."""
        self._require("sessions.write")
        return ()

    def _of(self, owner: Principal) -> list[tuple[Session, list[Message]]]:
        return [found for found in self.known.values() if found[0].owner == owner]

    def _found(self, owner: Principal, session_id: str) -> tuple[Session, list[Message]]:
        self._require("sessions.read")
        found = self.known.get(session_id)
        if found is None or found[0].owner != owner:
            raise UnknownName("session", session_id)
        return found

    def _require(self, permission: str) -> None:
        if self._manifest is not None and permission not in self._manifest.kernel:
            raise NotPermitted(
                self._manifest.label,
                f"used {permission} without declaring it.",
                hint=f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]",
            )
