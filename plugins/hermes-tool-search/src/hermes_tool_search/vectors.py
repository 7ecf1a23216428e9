"""The vectors of what tools say of themselves, kept by their person, the model that made them, and a hash of the words.

A vector has the length one, in numbers of two bytes: two thousand of a large model are six megabytes.
"""

import hashlib
import math
import struct
from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from hermes_core.database import READ, StoreBroker, TablesTransaction

__all__ = ["MOST", "hash_of", "known", "packed", "put", "unpacked"]

MOST = 4_000  # of a person; those that were used longest ago go
_AT_ONCE = 400  # hashes in one statement
_STALE = 86_400.0  # seconds after which a use is written down again

_names = ("person", "model", "hash", "vector", "used")
_vectors = sa.Table("tool_search__vectors", sa.MetaData(), *(sa.Column(name) for name in _names))


def hash_of(text: str) -> str:
    """Which text it is."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def packed(vector: Sequence[float]) -> bytes:
    """A vector as it is kept; empty for one that points nowhere."""
    length = math.sqrt(sum(one * one for one in vector))
    if not (length > 0 and math.isfinite(length)):
        return b""
    return struct.pack(f"<{len(vector)}e", *(one / length for one in vector))


def unpacked(data: bytes) -> Sequence[float]:
    """The same as numbers."""
    return struct.unpack(f"<{len(data) // 2}e", data)


async def known(store: StoreBroker, person: str, model: str, hashes: Collection[str]) -> Mapping[str, bytes]:
    """What is kept of these texts. What is used is kept longer."""
    wanted = sorted(hashes)

    def read(tx: TablesTransaction) -> tuple[dict[str, bytes], float]:
        found, oldest = dict[str, bytes](), tx.clock()
        for at in range(0, len(wanted), _AT_ONCE):
            mine = _of(person, model, wanted[at : at + _AT_ONCE])
            for row in tx.execute(sa.select(_vectors.c.hash, _vectors.c.vector, _vectors.c.used).where(*mine)):
                found[str(row["hash"])] = bytes(row["vector"])
                oldest = min(oldest, float(row["used"]))
        return found, tx.clock() - oldest

    found, age = await store.transact(read, READ)
    if age > _STALE:
        await store.transact(lambda tx: _touch(tx, person, model, list(found)))
    return found


async def put(store: StoreBroker, person: str, model: str, made: Mapping[str, bytes]) -> None:
    """Keep vectors, and let go of the oldest where there are too many."""

    def write(tx: TablesTransaction) -> None:
        tx.alone(f"vectors {person}")  # whoever else makes the same at the same time comes after this
        keys, now = sorted(made), tx.clock()
        for at in range(0, len(keys), _AT_ONCE):
            tx.execute(sa.delete(_vectors).where(*_of(person, model, keys[at : at + _AT_ONCE])))
        for key in keys:
            values = {"person": person, "model": model, "hash": key, "vector": made[key], "used": now}
            tx.execute(sa.insert(_vectors).values(**values))
        order = _vectors.c.used.desc(), _vectors.c.model, _vectors.c.hash
        theirs = sa.select(_vectors.c.model, _vectors.c.hash).where(_vectors.c.person == person)
        for row in tx.execute(theirs.order_by(*order).offset(MOST).limit(MOST)):
            tx.execute(sa.delete(_vectors).where(*_of(person, str(row["model"]), [str(row["hash"])])))

    await store.transact(write)


def _touch(tx: TablesTransaction, person: str, model: str, hashes: Sequence[str]) -> None:
    for at in range(0, len(hashes), _AT_ONCE):
        tx.execute(sa.update(_vectors).where(*_of(person, model, hashes[at : at + _AT_ONCE])).values(used=tx.clock()))


def _of(person: str, model: str, hashes: Sequence[str]) -> Sequence[sa.ColumnElement[bool]]:
    return _vectors.c.person == person, _vectors.c.model == model, _vectors.c.hash.in_(hashes)
