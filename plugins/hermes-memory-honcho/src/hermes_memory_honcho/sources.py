"""Where memos are from: in a table of the store, for Honcho has no place for it. Of a text there is only a hash."""

import hashlib
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from hermes_core.database import READ, StoreBroker, TablesTransaction
from hermes_core.types import Principal, Source

__all__ = ["Sources", "hash_of"]

_names = ("person", "profile", "text", "by", "session", "trusted")
_sources = sa.Table("memory_honcho__sources", sa.MetaData(), *(sa.Column(name) for name in _names))


def hash_of(text: str) -> str:
    """Which text it is."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


class Sources:
    """Those of each owner."""

    def __init__(self, store: StoreBroker) -> None:
        self._store = store

    async def keep(self, owner: Principal, text: str, source: Source) -> bool:
        """Write down where a text is from, before it is kept anywhere; False where that was written before."""

        def write(tx: TablesTransaction) -> bool:
            tx.alone(f"sources {owner.person}")
            if tx.execute(sa.select(_sources.c.text).where(*_of(owner), _sources.c.text == hash_of(text))):
                return False
            values = {
                "person": owner.person, "profile": owner.profile, "text": hash_of(text),
                "by": source.by, "session": source.session_id, "trusted": source.trusted,
            }  # fmt: skip
            tx.execute(sa.insert(_sources).values(**values))
            return True

        return await self._store.transact(write)

    async def all(self, owner: Principal) -> Mapping[str, Source]:
        """Return the sources of an owner's memos, by the hash of their text."""
        rows = await self._store.transact(lambda tx: tx.execute(sa.select(_sources).where(*_of(owner))), READ)
        return {
            str(row["text"]): Source(by=row["by"], session_id=row["session"], trusted=bool(row["trusted"]))
            for row in rows
        }

    async def forget(self, owner: Principal, text: str) -> None:
        """Let go of one."""
        where = (*_of(owner), _sources.c.text == hash_of(text))
        await self._store.transact(lambda tx: tx.execute(sa.delete(_sources).where(*where)))

    async def erase(self, owner: Principal) -> None:
        """Let go of all of an owner's."""
        await self._store.transact(lambda tx: tx.execute(sa.delete(_sources).where(*_of(owner))))


def _of(owner: Principal) -> Sequence[sa.ColumnElement[bool]]:
    return _sources.c.person == owner.person, _sources.c.profile == owner.profile
