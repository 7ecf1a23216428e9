"""Replies under way in every process that shares the store: written down before they leave, taken back when they land.

One whose process dies is believed for as long as the longest reply takes, and then counts for nothing.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict
from hermes_core.types import JSON, Principal

__all__ = ["Kept", "over", "under_way"]

_NAME = "under way"  # the document of a person: turn -> what its reply may take, and until when that is believed
_LASTS = 1_800.0  # seconds


class Kept(NamedTuple):
    """What was read: ``flights`` by turn, and the ``version`` over which is written."""

    documents: DocumentsBroker
    person: Principal
    flights: Mapping[str, Mapping[str, float]]
    version: int

    async def begin(self, turn: str, takes: Mapping[str, float]) -> bool:
        """Write a reply down as under way; False where another process wrote meanwhile. Raises HermesError."""
        value: dict[str, JSON] = {name: dict(one) for name, one in self.flights.items()}
        value[turn] = {**takes, "until": time.time() + _LASTS}
        try:
            await self.documents.put(_NAME, value, version=self.version, owner=self.person)
        except Conflict:
            return False
        return True


async def under_way(documents: DocumentsBroker, person: Principal) -> Kept:
    """Return what a person's turns have under way. Raises HermesError."""
    found = await documents.get(_NAME, owner=person)
    return Kept(documents, person, _believed(found.value if found else None), found.version if found else 0)


async def over(documents: DocumentsBroker, person: Principal, turn: str) -> None:
    """Take a reply back that landed, or that nobody waits for any more. Raises HermesError."""

    def without(old: JSON | None) -> JSON | None:
        left: dict[str, JSON] = {name: dict(one) for name, one in _believed(old).items() if name != turn}
        return left or None

    await documents.change(_NAME, without, owner=person)


def _believed(value: JSON | None) -> Mapping[str, Mapping[str, float]]:
    known = value.items() if isinstance(value, Mapping) else ()
    found = {
        turn: {what: float(n) for what, n in one.items() if isinstance(n, int | float)}
        for turn, one in known
        if isinstance(one, Mapping)
    }
    return {turn: one for turn, one in found.items() if one.get("until", 0) > time.time()}
