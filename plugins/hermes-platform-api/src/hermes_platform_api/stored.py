"""Responses that no row of the kernel tells: those that ended with calls of the client's tools, and what came after."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import HermesError
from hermes_core.types import JSON, Principal

__all__ = ["StoredResponses"]

_NAME = "responses"
_MOST = 100  # of one session
_ROOM = 900_000  # characters of all of them; a document has an end


class StoredResponses:
    """They lie with their session, and go with it."""

    def __init__(self, documents: DocumentsBroker) -> None:
        self._documents = documents

    async def put(
        self, owner: Principal, session: str, whole: Mapping[str, Any], given: Sequence[Mapping[str, Any]]
    ) -> None:
        """Keep one with what it answers. What cannot be kept is not found later."""
        entry: JSON = [dict(whole), list(given)]

        def more(before: JSON | None) -> JSON:
            known = list((before if isinstance(before, dict) else {}).items())
            known = [*known[1 - _MOST :], (whole["id"], entry)]
            sizes = [len(json.dumps(one)) for _, one in known]
            while len(known) > 1 and sum(sizes) > _ROOM:
                known.pop(0)
                sizes.pop(0)
            return dict(known)

        try:
            await self._documents.change(_NAME, more, owner=owner, session_id=session)
        except HermesError:
            return

    async def get(self, owner: Principal, session: str, name: str) -> tuple[dict[str, Any], list[Any]] | None:
        """One and what it answers, by its id; None where it is not kept."""
        found = await self._documents.get(_NAME, owner=owner, session_id=session)
        value = found.value if found else None
        entry: Any = value.get(name) if isinstance(value, dict) else None
        return (entry[0], entry[1]) if entry else None

    async def drop(self, owner: Principal, session: str, name: str) -> None:
        """Forget one."""

        def less(before: JSON | None) -> JSON | None:
            known = dict(before) if isinstance(before, dict) else {}
            known.pop(name, None)
            return known or None

        await self._documents.change(_NAME, less, owner=owner, session_id=session)
