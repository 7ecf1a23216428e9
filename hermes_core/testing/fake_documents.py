"""Documents in memory, as strict as those in the store."""

import json
import time
from collections.abc import Sequence

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict, UserError
from hermes_core.types import JSON, Document, Principal

__all__ = ["FakeDocuments"]

_Place = tuple[Principal | None, str]


class FakeDocuments(DocumentsBroker):
    """Documents of one plugin. ``kept`` holds them by owner and session, then by name.

    ``forget`` and ``fork`` do what the kernel does when a session is deleted or forked. Every session is there.
    """

    def __init__(self) -> None:
        self.kept: dict[_Place, dict[str, tuple[str, int, float]]] = {}
        self._version = 0

    async def get(self, name: str, *, owner: Principal | None = None, session_id: str = "") -> Document | None:
        """The document, read anew."""
        from hermes_core.store.documents import named

        there = self._at(owner, session_id)
        return self._document(session_id, name, there[name]) if named(name) in there else None

    async def put(
        self,
        name: str,
        value: JSON,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> Document:
        """Keep it as text. Raises Conflict and UserError as the kernel does."""
        from hermes_core.store.documents import MOST, encoded, named

        there, body = self._at(owner, session_id), encoded(value)
        self._check(named(name), there, version)
        if name not in there and len(there) >= MOST:
            raise UserError(f"{MOST} documents are kept there already.")
        self._version += 1
        there[name] = (body, self._version, time.time())
        return self._document(session_id, name, there[name])

    async def delete(
        self, name: str, *, version: int | None = None, owner: Principal | None = None, session_id: str = ""
    ) -> bool:
        """Forget it. Raises Conflict."""
        from hermes_core.store.documents import named

        there = self._at(owner, session_id)
        self._check(named(name), there, version)
        return there.pop(name, None) is not None

    async def list(self, *, owner: Principal | None = None, session_id: str = "") -> Sequence[Document]:
        """Those of one place."""
        return [self._document(session_id, name, one) for name, one in sorted(self._at(owner, session_id).items())]

    async def export(self, owner: Principal) -> Sequence[Document]:
        """Those of one owner."""
        mine = sorted((session, there) for (whose, session), there in self.kept.items() if whose == owner)
        return [self._document(session, name, one) for session, there in mine for name, one in sorted(there.items())]

    async def erase(self, owner: Principal) -> int:
        """Forget those of one owner."""
        mine = [place for place in self.kept if place[0] == owner]
        return sum(len(self.kept.pop(place)) for place in mine)

    def forget(self, session_id: str) -> None:
        """Delete a session, as far as its documents go."""
        for place in [place for place in self.kept if place[1] == session_id]:
            del self.kept[place]

    def fork(self, source: str, session_id: str) -> None:
        """Fork a whole session, as far as its documents go."""
        for (owner, session), there in list(self.kept.items()):
            if session == source:
                self.kept[owner, session_id] = dict(there)

    def _at(self, owner: Principal | None, session_id: str) -> dict[str, tuple[str, int, float]]:
        from hermes_core.store.documents import check_place

        check_place(owner, session_id)
        return self.kept.setdefault((owner, session_id), {})

    def _check(self, name: str, there: dict[str, tuple[str, int, float]], version: int | None) -> None:
        if version is not None and version != (there[name][1] if name in there else 0):
            raise Conflict(f"Somebody else changed the document {name!r} meanwhile.")

    def _document(self, session_id: str, name: str, one: tuple[str, int, float]) -> Document:
        body, version, updated = one
        return Document(name=name, value=json.loads(body), version=version, session_id=session_id, updated=updated)
