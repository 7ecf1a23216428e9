"""Replies under way in every process that shares the store: written down before they leave, taken back when they land.

One whose process died counts for nothing. Where that cannot be seen, as of another machine, it is believed for as long
as the longest reply takes.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict
from hermes_core.types import JSON, Principal
from hermes_tool_budgets.process import Process

__all__ = ["Kept", "over", "under_way"]

_NAME = "under way"  # the document of a person: turn -> what its reply may take, until when it is believed, and of whom
_LASTS = 1_800.0  # seconds


class Kept(NamedTuple):
    """What was read: ``flights`` by turn, with the process ``of`` each, and the ``version`` over which is written."""

    documents: DocumentsBroker
    person: Principal
    process: Process
    flights: Mapping[str, Mapping[str, float]]
    of: Mapping[str, str]
    version: int

    async def begin(self, turn: str, takes: Mapping[str, float]) -> bool:
        """Write a reply down as under way; False where another process wrote meanwhile. Raises HermesError."""
        value: dict[str, JSON] = {name: {**one, "of": self.of[name]} for name, one in self.flights.items()}
        value[turn] = {**takes, "until": time.time() + _LASTS, "of": self.process.name(_LASTS)}
        try:
            await self.documents.put(_NAME, value, version=self.version, owner=self.person)
        except Conflict:
            return False
        return True


async def under_way(documents: DocumentsBroker, person: Principal, process: Process) -> Kept:
    """Return what a person's turns have under way. Raises HermesError."""
    found = await documents.get(_NAME, owner=person)
    flights = _believed(found.value if found else None)
    of = {turn: str(one.get("of", "")) for turn, one in flights.items()}
    dead = {name for name in {*of.values()} if process.is_dead(name)}
    takes = {turn: _numbers(one) for turn, one in flights.items() if of[turn] not in dead}
    return Kept(documents, person, process, takes, of, found.version if found else 0)


async def over(documents: DocumentsBroker, person: Principal, turn: str) -> None:
    """Take a reply back that landed, or that nobody waits for any more. Raises HermesError."""

    def without(old: JSON | None) -> JSON | None:
        left: dict[str, JSON] = {name: dict(one) for name, one in _believed(old).items() if name != turn}
        return left or None

    await documents.change(_NAME, without, owner=person)


def _believed(value: JSON | None) -> Mapping[str, Mapping[str, JSON]]:
    known = value.items() if isinstance(value, Mapping) else ()
    found = {turn: one for turn, one in known if isinstance(one, Mapping)}
    return {turn: one for turn, one in found.items() if _numbers(one).get("until", 0) > time.time()}


def _numbers(flight: Mapping[str, JSON]) -> Mapping[str, float]:
    return {what: float(n) for what, n in flight.items() if isinstance(n, int | float)}
