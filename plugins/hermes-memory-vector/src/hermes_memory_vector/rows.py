"""The memos of each person in a table of the store, with the vector that a model made of each.

A vector has the length one, in numbers of two bytes. Where no model answered, it is empty, and made later.
"""

import hashlib
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from hermes_core.database import READ, StoreBroker, TablesTransaction
from hermes_core.types import Memo, Principal, Source
from hermes_core.values import frozen

__all__ = ["Row", "Rows", "id_of"]

_OWNERS = 8  # whose rows are kept at hand
_names = ("person", "profile", "id", "text", "words", "by", "session", "trusted", "time", "model", "vector")
_memos = sa.Table("memory_vector__memos", sa.MetaData(), *(sa.Column(name) for name in _names))


@frozen(kw_only=True)
class Row:
    """One memo as it is kept."""

    memo: Memo
    words: str
    time: float
    model: str
    vector: bytes


def id_of(text: str) -> str:
    """Which text it is: the same text has the same id."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Rows:
    """All that is kept, by its owner."""

    def __init__(self, store: StoreBroker) -> None:
        self._store = store
        self._read: dict[Principal, tuple[object, Sequence[Row]]] = {}  # what was read, with a stamp of what there was

    async def add(self, owner: Principal, memo: Memo, words: str, most: int) -> Memo:
        """Keep a memo, and let go of the oldest; what is there already is said again now, and stays as it came."""

        def write(tx: TablesTransaction) -> Memo:
            tx.alone(f"memos {owner.person}")
            now = tx.clock()
            if there := tx.execute(sa.select(_memos).where(*_of(owner), _memos.c.id == memo.id)):
                tx.execute(sa.update(_memos).where(*_of(owner), _memos.c.id == memo.id).values(time=now))
                return _row(there[0]).memo
            values = {
                "person": owner.person, "profile": owner.profile, "id": memo.id, "text": memo.text, "words": words,
                "by": memo.source.by, "session": memo.source.session_id, "trusted": memo.source.trusted, "time": now,
                "model": "", "vector": b"",
            }  # fmt: skip
            tx.execute(sa.insert(_memos).values(**values))
            newest = sa.select(_memos.c.id).where(*_of(owner)).order_by(_memos.c.time.desc(), _memos.c.id)
            gone = [str(row["id"]) for row in tx.execute(newest.offset(most).limit(1_000))]
            if gone:
                tx.execute(sa.delete(_memos).where(*_of(owner), _memos.c.id.in_(gone)))
            return memo

        return await self._store.transact(write)

    async def all(self, owner: Principal) -> Sequence[Row]:
        """Return what is kept of an owner, newest first; read again where it changed, in whichever process."""

        def stamp(tx: TablesTransaction) -> object:
            counts = (_memos.c.model, sa.func.count().label("n"), sa.func.max(_memos.c.time).label("newest"))
            by_model = sa.select(*counts).where(*_of(owner)).group_by(_memos.c.model).order_by(_memos.c.model)
            return tuple(tuple(row.values()) for row in tx.execute(by_model))

        def read(tx: TablesTransaction) -> tuple[object, Sequence[Row]]:
            wanted = sa.select(_memos).where(*_of(owner)).order_by(_memos.c.time.desc(), _memos.c.id)
            return stamp(tx), [_row(row) for row in tx.execute(wanted)]

        now, known = await self._store.transact(stamp, READ), self._read.pop(owner, None)
        if known is None or known[0] != now:
            known = await self._store.transact(read, READ)
        self._read[owner] = known
        if len(self._read) > _OWNERS:
            del self._read[next(iter(self._read))]
        return known[1]

    async def vectors(self, owner: Principal, model: str, made: Mapping[str, bytes]) -> None:
        """Keep what a model made of memos; what was forgotten meanwhile stays forgotten."""

        def write(tx: TablesTransaction) -> None:
            for key, vector in sorted(made.items()):
                where = (*_of(owner), _memos.c.id == key)
                tx.execute(sa.update(_memos).where(*where).values(model=model, vector=vector))

        await self._store.transact(write)

    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Let go of one memo."""
        where = (*_of(owner), _memos.c.id == memo_id)
        await self._store.transact(lambda tx: tx.execute(sa.delete(_memos).where(*where)))

    async def erase(self, owner: Principal) -> int:
        """Let go of all of an owner's; how many there were."""
        return await self._store.transact(lambda tx: tx.execute(sa.delete(_memos).where(*_of(owner))).changed)


def _of(owner: Principal) -> Sequence[sa.ColumnElement[bool]]:
    return _memos.c.person == owner.person, _memos.c.profile == owner.profile


def _row(row: Mapping[str, object]) -> Row:
    source = Source(by=str(row["by"]), session_id=str(row["session"]), trusted=bool(row["trusted"]))
    memo = Memo(id=str(row["id"]), text=str(row["text"]), source=source)
    vector = row["vector"]
    return Row(
        memo=memo,
        words=str(row["words"]),
        time=float(str(row["time"])),
        model=str(row["model"]),
        vector=bytes(vector) if isinstance(vector, bytes | memoryview) else b"",
    )
