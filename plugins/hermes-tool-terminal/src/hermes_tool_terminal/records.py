"""What is kept of the processes of a session: in its documents, written before anything is done about them."""

import contextlib
import fcntl
import os
import socket
import time
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.types import JSON, Session
from hermes_core.values import frozen

__all__ = ["HAD", "LEFT", "Holder", "Record", "keep", "load", "remembered"]

HAD, LEFT = "had", "left"  # of the plugin's state: sessions with processes; those of an earlier Hermes, by session

_NAME = "processes"
_NEW = 60.0  # seconds
_MOST = 40  # records of a session; those that ended longest ago are forgotten first


@frozen(kw_only=True)
class Record:
    """One process. ``mark`` is how its tree is found, ``holder`` the Hermes that keeps it, on the machine ``host``.

    ``outlives`` says that no wall ends it with that Hermes; ``watch`` what its output is watched for.
    ``told`` says that the model knows how it ended.
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


async def load(ctx: PluginContext, session: Session) -> dict[str, Record]:
    """The processes of a session by id, oldest first; not those of one that it was copied from."""
    found = await ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
    return {one.id: one for one in _read(found.value if found else None) if one.session == session.id}


async def remembered(ctx: PluginContext, session: Session) -> None:
    """Look up whether a session that is taken up has processes, and what an earlier Hermes left of them."""
    if records := await load(ctx, session):
        ctx.state.setdefault(HAD, set()).add(session.id)
        ctx.state.setdefault(LEFT, {})[session.id] = [one for one in records.values() if not one.told]


async def keep(ctx: PluginContext, session: Session, record: Record) -> None:
    """Write one down; committed when this returns."""

    def with_it(old: JSON | None) -> JSON:
        known = {one.id: one for one in _read(old) if one.session == session.id}
        known[record.id] = record
        ended = [one.id for one in known.values() if one.state == "ended" and one.id != record.id]
        for gone in ended[: max(0, len(known) - _MOST)]:
            del known[gone]
        return [asdict(one) for one in known.values()]

    await ctx.documents.change(_NAME, with_it, owner=session.owner, session_id=session.id)


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
