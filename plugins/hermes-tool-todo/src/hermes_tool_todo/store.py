"""Plans as documents of their sessions. Those that an older version kept in files are taken over when first met."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict, ToolError, UserError
from hermes_core.patterns import pattern
from hermes_core.types import JSON, Session
from hermes_tool_todo.plan import OPEN, STATUSES, Item, Plan

NAME = "plan"
_VERSION = 1
_PLAIN = pattern(r"[a-z0-9][a-z0-9_-]{0,79}")


class Plans:
    """The plans of all sessions. Nothing of one person is ever found under another's name."""

    def __init__(self, documents: DocumentsBroker, folder: Path) -> None:
        """``folder`` is where an older version kept its plans."""
        self._documents, self._folder = documents, folder

    async def read(self, session: Session) -> Plan:
        """The plan of a session, empty when it has none. Raises HermesError when it cannot be read."""
        await self._take_over(session)
        document = await self._documents.get(NAME, owner=session.owner, session_id=session.id)
        return _plan_of(document.value) if document else ()

    async def change(self, session: Session, edit: Callable[[Plan], Plan], *, anew: bool) -> Plan:
        """Apply ``edit`` and keep what it gives; ``anew`` does not look at what was there.

        Raises ToolError, from ``edit`` or because the plan cannot be read or is too large, and StoreError.
        """
        await self._take_over(session)

        def changed(before: JSON | None) -> JSON | None:
            plan = edit(() if anew or before is None else _plan_of(before))
            return _value_of(plan, turn=session.turn, sent_on=_noted(before, "sent_on")) if plan else None

        try:
            kept = await self._documents.change(NAME, changed, owner=session.owner, session_id=session.id)
        except UserError as error:
            raise ToolError(f"The plan was not changed: {error.text}", hint="Write a shorter one.") from None
        return _plan_of(kept) if kept else ()

    async def send_on(self, session: Session) -> Plan:
        """The open items of a plan that the running turn changed; once a turn, which is written before it is said.

        Empty where there is none, and for a plan that cannot be read. Raises StoreError.
        """
        where: Any = {"owner": session.owner, "session_id": session.id}
        document = await self._documents.get(NAME, **where)
        turns = [_noted(document.value if document else None, name) for name in ("turn", "sent_on")]
        if document is None or turns[0] != session.turn or turns[1] == session.turn:
            return ()
        with suppress(ToolError, Conflict):  # who changes it meanwhile is at work on it
            if left := tuple(item for item in _plan_of(document.value) if item.status in OPEN):
                told = {**document.value, "sent_on": session.turn}
                await self._documents.put(NAME, told, version=document.version, **where)
                return left
        return ()

    async def _take_over(self, session: Session) -> None:
        """Let the plan of an older version go on here; one that was changed since is older still."""
        path = self.old_path(session)
        if not path.is_file():
            return
        where: Any = {"version": 0, "owner": session.owner, "session_id": session.id}
        with suppress(Conflict, OSError):
            try:
                await self._documents.put(NAME, json.loads(await asyncio.to_thread(path.read_bytes)), **where)
            except (ValueError, RecursionError, UserError):  # kept aside; a whole new plan replaces it
                path = path.replace(path.with_suffix(".damaged"))
                await self._documents.put(NAME, {"damaged": str(path)}, **where)
                return
        with suppress(OSError):
            path.unlink()

    def old_path(self, session: Session) -> Path:
        """Where an older version kept the plan of a session."""
        owner = f"{session.owner.profile}.{session.owner.person}"
        plain = _PLAIN.fullmatch(session.owner.profile) and _PLAIN.fullmatch(session.owner.person)
        person = owner if plain else _digest(f"{session.owner.profile}\0{session.owner.person}")
        name = session.id if _PLAIN.fullmatch(session.id) else _digest(session.id)
        return self._folder / person / f"{name}.json"


def _digest(name: str) -> str:
    """A file name for any text; ``~`` keeps it apart from names that are used as they are."""
    return f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def _plan_of(stored: JSON) -> Plan:
    """The plan that was kept. Raises ToolError when it is none."""
    try:
        if "damaged" in stored:
            raise ValueError(f"it was taken over from {stored['damaged']}")
        if stored["version"] != _VERSION:
            raise ValueError(f"version {stored['version']!r} is not known here")
        return tuple(_item_of(item) for item in stored["todos"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ToolError(
            f"The plan of this session is damaged ({reason[:200]}).",
            hint="A whole new plan, with merge=false, replaces it.",
        ) from None


def _noted(stored: JSON | None, name: str) -> str:
    """Which turn a stored plan names; none where there is no plan, or an older one."""
    return str(stored.get(name, "")) if isinstance(stored, dict) else ""


def _item_of(stored: JSON) -> Item:
    status = stored["status"]
    if status not in STATUSES:
        raise ValueError(f"there is no status {status!r}")
    return Item(id=str(stored["id"]), content=str(stored["content"]), status=status)


def _value_of(plan: Plan, *, turn: str, sent_on: str) -> JSON:
    """A plan as it is kept: with the turn that changed it last, and the one that was sent on for what it left open."""
    todos = [{"id": item.id, "content": item.content, "status": item.status} for item in plan]
    return {"version": _VERSION, "todos": todos, "turn": turn, "sent_on": sent_on}
