"""What texts mean, as vectors of the model of ``auxiliary.embed``: asked once for each, and left alone when it fails.

A question and the memos that have no vector of this model yet go in one request.
"""

import asyncio
import math
import struct
import time
from collections.abc import Mapping, Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import MediaRequest, Principal, Session
from hermes_memory_vector.rows import Row, Rows

__all__ = ["Meaning", "likeness", "packed"]

_AT_ONCE = 64  # texts in one request
_LONGEST = 2_000  # characters of a text that is asked for
_PATIENCE = 3.0  # seconds that a search waits; words alone count then
_REST = 600.0  # seconds after a failure in which the model is left alone
_TASK = "embed"


def packed(vector: Sequence[float]) -> bytes:
    """A vector as it is kept; empty for one that points nowhere."""
    length = math.sqrt(sum(one * one for one in vector))
    if not (length > 0 and math.isfinite(length)):
        return b""
    return struct.pack(f"<{len(vector)}e", *(one / length for one in vector))


def likeness(to: bytes, others: Sequence[bytes]) -> Sequence[float]:
    """How near each of the others is, from -1 to 1; 0 for what was made otherwise, or not at all."""
    if not to:
        return [0.0] * len(others)
    import numpy

    same = [at for at, one in enumerate(others) if len(one) == len(to)]
    found = [0.0] * len(others)
    if same:
        table = numpy.frombuffer(b"".join(others[at] for at in same), dtype="<f2").reshape(len(same), -1)
        near = table.astype("float32") @ numpy.frombuffer(to, dtype="<f2").astype("float32")
        for at, one in zip(same, near.tolist(), strict=True):
            found[at] = one if math.isfinite(one) else 0.0
    return found


class Meaning:
    """The model for vectors, as far as it answers."""

    def __init__(self, ctx: PluginContext, rows: Rows) -> None:
        self._ctx, self._rows = ctx, rows
        self._rest_until = 0.0

    async def of(
        self, owner: Principal, query: str, rows: Sequence[Row], session: Session | None = None
    ) -> tuple[bytes, Mapping[str, bytes]]:
        """Return the vector of a question and those of memos by id; nothing where the model does not answer in time."""
        if not query.strip() or time.monotonic() < self._rest_until:
            return b"", {}
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self._asked(owner, query, rows, session)
        except (HermesError, TimeoutError) as error:
            self._rest_until = time.monotonic() + _REST
            why = str(error) or "the model for vectors takes too long"
            self._ctx.log.warning("memories are found by words alone: %s", why)
            return b"", {}

    async def fill(self, owner: Principal, session: Session | None = None) -> None:
        """Make the vectors that are missing, beside the turn."""
        while time.monotonic() >= self._rest_until:
            missing = [row for row in await self._rows.all(owner) if not row.model]
            if not missing:
                return
            _, made = await self.of(owner, missing[0].memo.text, missing, session)
            if not made:
                return

    async def _asked(
        self, owner: Principal, query: str, rows: Sequence[Row], session: Session | None
    ) -> tuple[bytes, Mapping[str, bytes]]:
        missing = [row for row in rows if not row.model][: _AT_ONCE - 1]
        model, (wanted, *made) = await self._embedded([query, *(row.memo.text for row in missing)], session)
        others = [row for row in rows if row.model not in ("", model)][: _AT_ONCE - 1]
        if others:  # another one answers now: a part of them at a time is made anew
            model, anew = await self._embedded([row.memo.text for row in others], session)
            missing, made = [*missing, *others], [*made, *anew]
        fresh = {row.memo.id: vector for row, vector in zip(missing, made, strict=True)}
        if fresh:
            await self._rows.vectors(owner, model, fresh)
        return wanted, {row.memo.id: row.vector for row in rows if row.model == model} | fresh

    async def _embedded(self, texts: Sequence[str], session: Session | None) -> tuple[str, list[bytes]]:
        asked = MediaRequest(texts=tuple(text[:_LONGEST] for text in texts))
        found = await self._ctx.llm.media("embed", asked, task=_TASK, session=session)
        return found.model, [packed(vector) for vector in found.vectors]
