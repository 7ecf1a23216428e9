"""``/rollback`` in a conversation."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.types import Session
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes, note_of
from hermes_tool_checkpoints.restore import Restored, cut_off, restore
from hermes_tool_checkpoints.store import About, Snapshot, Store, pick
from hermes_tool_checkpoints.views import at, difference, listing, rows, told

SECONDS = 120.0
_USAGE = "Write /rollback, /rollback N, /rollback N FILE or /rollback diff N."


def bring_back(
    store: Store, notes: Notes, folder: Path, found: Sequence[Snapshot], number: int, job: Job, *, only: str = "",
    session: Session | None = None,
) -> Restored:  # fmt: skip
    """Restore and leave a note for all whose knowledge is outdated by it. Raises UserError, GitFailed."""
    snapshot = pick(list(found), number, store.called(folder))
    about = About(kind="rollback", session=session.id if session else "", backend=snapshot.backend)
    done = restore(store, folder, snapshot, about, job, only=inside(folder, only, store.called(folder)))
    if done.changed:
        concerned = {s.session for s in found[:number]} | {about.session}
        notes.leave(concerned, note_of(folder, done, at(snapshot.when)))
    return done


def inside(folder: Path, name: str, called: str) -> str:
    """A file's name as the store knows it. Raises UserError when it lies outside."""
    if not name:
        return ""
    path = os.path.relpath(os.path.normpath(folder / Path(name).expanduser()), folder)
    if path == "." or path.startswith(".."):
        raise UserError(f"{name} is not inside {called}.", hint="Name a file or folder in it.")
    return path


async def rollback(store: Store, notes: Notes, session: Session, rest: str) -> str:
    """``/rollback``; the model is not asked, and hears of it with the next message. Raises UserError, GitFailed."""
    return await asyncio.to_thread(_rollback, store, notes, session, rest)


def _rollback(store: Store, notes: Notes, session: Session, rest: str) -> str:
    folder, job = store.checked(session.cwd), Job(SECONDS)
    called = store.called(folder)
    found = store.snapshots(folder, job, session.backend)
    words = rest.split(None, 1)
    if not words or words == ["list"]:
        if not found and not store.config.enabled:
            return "Snapshots are off. To turn them on: hermes config set tools.checkpoints.enabled true"
        if not found:
            return f"There is no snapshot of {called} yet. One is taken before the first change of a turn."
        return listing(called, rows(store, folder, found, job), cut_off(store, folder))
    if words[0] == "diff":
        snapshot = pick(found, _number(words[1] if len(words) > 1 else "1"), called)
        return difference(store, folder, snapshot, job) or "Nothing changed since."
    only = words[1] if len(words) > 1 else ""
    done = bring_back(store, notes, folder, found, _number(words[0]), job, only=only, session=session)
    return told(done, undo="/rollback 1")


def _number(word: str) -> int:
    if not word.isdecimal():
        raise UserError(f"{word!r} is not the number of a snapshot.", hint=_USAGE)
    return int(word)
