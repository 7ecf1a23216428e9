"""What is kept of the processes of a session: in its documents, written before anything is done about them."""

import asyncio
import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.types import JSON, Session
from hermes_core.values import frozen

__all__ = [
    "HAD", "LEFT", "Holder", "Record", "add", "awaited", "keep", "load", "plan_of", "remembered", "wait_for",
    "wait_no_more",
]  # fmt: skip

HAD, LEFT = "had", "left"  # of the plugin's state: sessions with processes; those of an earlier Hermes, by session

_NAME, _PLAN = "processes", "turns"
_AWAITED = "awaited"  # the plugin's document: sessions with processes, for whoever looks after a death
_NEW = 60.0  # seconds
_MOST = 40  # records of a session; those that ended longest ago are forgotten first
_SESSIONS = 1_000  # that are kept in mind


@frozen(kw_only=True)
class Record:
    """One process. ``mark`` is how its tree is found, ``holder`` the Hermes that keeps it, on the machine ``host``.

    ``outlives`` says that no wall ends it with that Hermes; ``watch`` what its output is watched for.
    ``told`` says that the model knows how it ended, ``lost`` that it knows that its Hermes died. ``begins``: its end
    may begin a turn, for the ``speaker`` and within the ``bounds`` of the one that began it. ``outside`` says that what
    it runs was written by a model that had read text from outside.
    """

    id: str
    session: str
    command: str
    mark: str
    since: float
    holder: str
    host: str = ""
    tty: bool = False
    outlives: bool = False
    walled: bool = True
    state: Literal["running", "ended"] = "running"
    status: int | None = None
    how: str = ""
    watch: str = ""
    told: bool = False
    lost: bool = False
    begins: bool = False
    outside: bool = False
    speaker: dict[str, JSON] | None = None
    bounds: dict[str, JSON] | None = None


async def load(ctx: PluginContext, session: Session) -> dict[str, Record]:
    """The processes of a session by id, oldest first; not those of one that it was copied from."""
    found = await ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
    return {one.id: one for one in _read(found.value if found else None) if one.session == session.id}


async def remembered(ctx: PluginContext, session: Session) -> None:
    """Look up whether a session that is taken up has processes, and what an earlier Hermes left of them."""
    if records := await load(ctx, session):
        ctx.state.setdefault(HAD, set()).add(session.id)
        planned = ((await plan_of(ctx, session)).get("plan") or {}).get("ids", ())
        left = [one for one in records.values() if not one.told and one.id not in planned]
        ctx.state.setdefault(LEFT, {})[session.id] = left
        if planned or left:
            from hermes_tool_terminal.telling import telling_of

            telling_of(ctx).soon(session)


async def plan_of(ctx: PluginContext, session: Session) -> Mapping[str, Any]:
    """What is about to be told by a turn of its own, and when that was done before; not that of another session."""
    found = await ctx.documents.get(_PLAN, owner=session.owner, session_id=session.id)
    value = found.value if found and isinstance(found.value, dict) else {}
    return value if value.get("session", session.id) == session.id else {}


async def add(ctx: PluginContext, session: Session, record: Record) -> Record:
    """Write a new one down, under the next number of its session: others may begin one there too."""
    made = record

    def with_it(old: JSON | None) -> JSON:
        nonlocal made
        known = _read(old)
        mine = [one for one in known if one.session == session.id]
        made = evolve(record, id=f"p{1 + max((int(n) for one in mine if (n := one.id[1:]).isdigit()), default=0)}")
        return [asdict(one) for one in _few([*mine, made], made.id)]

    await ctx.documents.change(_NAME, with_it, owner=session.owner, session_id=session.id)
    return made


async def keep(ctx: PluginContext, session: Session, record: Record) -> None:
    """Write one down; committed when this returns."""

    def with_it(old: JSON | None) -> JSON:
        known = {one.id: one for one in _read(old) if one.session == session.id}
        known[record.id] = record
        return [asdict(one) for one in _few(list(known.values()), record.id)]

    await ctx.documents.change(_NAME, with_it, owner=session.owner, session_id=session.id)


def _few(known: list[Record], but: str) -> list[Record]:
    ended = [one.id for one in known if one.state == "ended" and one.id != but]
    gone = ended[: max(0, len(known) - _MOST)]
    return [one for one in known if one.id not in gone]


async def awaited(ctx: PluginContext) -> dict[str, tuple[str, str, str]]:
    """The sessions with processes: of which profile and person each is, and on which machine they ran."""
    found = await ctx.documents.get(_AWAITED)
    value = found.value if found and isinstance(found.value, dict) else {}
    return {name: (str(one[0]), str(one[1]), str(one[2])) for name, one in value.items()}


async def wait_for(ctx: PluginContext, session: Session, host: str) -> None:
    """Keep in mind that a session has a process, before that is begun."""

    def more(old: JSON | None) -> JSON:
        known = {name: one for name, one in old.items() if name != session.id} if isinstance(old, dict) else {}
        kept = list(known.items())[1 - _SESSIONS :]
        return {**dict(kept), session.id: [session.owner.profile, session.owner.person, host]}

    async with _alone(ctx):
        await ctx.documents.change(_AWAITED, more)


async def wait_no_more(ctx: PluginContext, session_id: str) -> None:
    """Forget a session: nothing runs in it, and nothing is left to tell."""

    def less(old: JSON | None) -> JSON | None:
        return {name: one for name, one in old.items() if name != session_id} or None if isinstance(old, dict) else old

    async with _alone(ctx):
        if session_id in await awaited(ctx):
            await ctx.documents.change(_AWAITED, less)


def _alone(ctx: PluginContext) -> asyncio.Lock:
    """One at a time: all sessions are in one document, and who was slower ten times is refused."""
    lock: asyncio.Lock = ctx.state.setdefault("awaiting", asyncio.Lock())
    return lock


def _read(value: JSON | None) -> list[Record]:
    found = []
    for one in value if isinstance(value, list) else []:
        with contextlib.suppress(TypeError):  # written by a later version
            fields: dict[str, Any] = one if isinstance(one, dict) else {}
            found.append(Record(**fields))
    return [evolve(one, command=str(one.command)) for one in found]


class Holder:
    """This Hermes, as others on the machine can tell whether it lives: by a lock that the system lets go of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.id, self.host = os.urandom(8).hex(), socket.gethostname()
        self._file = (folder / f"{self.id}.lock").open("wb")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            for path in folder.glob("*.lock"):  # one that is new may not have its lock yet
                if path.stat().st_mtime < time.time() - _NEW:
                    _is_held(path)

    def lives(self, record: Record) -> bool:
        """Whether the Hermes that keeps a process lives, or nobody here can tell."""
        if record.host != self.host or record.holder == self.id:
            return True
        return _is_held(self._folder / f"{Path(record.holder).name}.lock")

    def close(self) -> None:
        """Let go of the lock."""
        (self._folder / f"{self.id}.lock").unlink(missing_ok=True)
        self._file.close()


def _is_held(path: Path) -> bool:
    """Whether somebody holds a lock; its file is taken away where nobody does."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    path.unlink(missing_ok=True)
    return False
