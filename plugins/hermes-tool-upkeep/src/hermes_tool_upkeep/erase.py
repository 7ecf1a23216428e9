"""Erase a session or a person: rows, files, and a note that keeps a copy of the home from bringing them back."""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Principal
from hermes_tool_upkeep.memories import forget_memories
from hermes_tool_upkeep.rows import connected, tables_of
from hermes_tool_upkeep.said import accounts_of, said_elsewhere, take_out, unnamed_in_files
from hermes_tool_upkeep.traces import clean_accounts, clean_documents, clean_logs, folders_of, leave_numbers

__all__ = [
    "back_again",
    "erase_again",
    "erase_person",
    "erase_session",
    "mark_of",
    "note_of",
    "older_stores",
    "place_of",
]

_PASSED = frozenset({"backups", ".git", "plugins", "skills"})  # where no name says that it is of a session


def place_of(ctx: PluginContext) -> str | Path:
    """Return where the store is: its file, or the address of its server."""
    return ctx.store.address() or ctx.paths.home / "state.db"


def note_of(ctx: PluginContext) -> Path:
    """Return the file that names what was erased. It lies where copies are, and is in none of them."""
    return ctx.paths.home / "backups" / "erased.jsonl"


def older_stores(path: Path) -> Sequence[Path]:
    """Return the stores that were put aside beside this one: by migrations, repairs and ways back."""
    return sorted(one for why in ("before", "damaged", "newer") for one in path.parent.glob(f"{path.name}.{why}-*"))


async def erase_session(ctx: PluginContext, owner: Principal, session_id: str, *, noted: bool = True) -> Sequence[str]:
    """Erase a session and those below it: which files went. Raises UnknownName, and Busy while a turn runs."""
    with connected(place_of(ctx)) as connection:
        ids = list(_below(connection, session_id))
    if noted:
        _note(ctx, session=_digest(session_id))
    await ctx.sessions.delete(owner, session_id, erased=True)
    with connected(place_of(ctx), writes=True) as connection:
        for table in tables_of(connection):
            if "session_id" in table.columns:
                connection.execute(sa.delete(table).where(table.c.session_id.in_(ids)))
            if table.name == "documents":
                clean_documents(connection, table, ids)
        connection.commit()
    gone = [str(path) for path in _files(ctx.paths.home, ids)]
    await asyncio.to_thread(clean_logs, ctx.paths.home / "logs", ids)
    return gone


async def erase_person(ctx: PluginContext, person: str, *, noted: bool = True) -> Sequence[str]:
    """Erase all of a person: which sessions went. Raises UnknownName, and Busy."""
    with connected(place_of(ctx)) as connection:
        tables = {table.name: table for table in tables_of(connection)}
        owners, sessions = tables["owners"], tables["sessions"]
        found = connection.execute(sa.select(owners.c.id, owners.c.profile).where(owners.c.person == person)).all()
        elsewhere = any(_rows(connection, table, person) for table in tables.values() if "person" in table.columns)
        if not found and not elsewhere:
            known = connection.scalars(sa.select(owners.c.person)).all()
            raise UnknownName("person", person, known)
        whose = {number: Principal(profile=profile, person=person) for number, profile in found}
        ids = connection.execute(sa.select(sessions.c.id, sessions.c.owner, sessions.c.parent)).all()
        accounts = accounts_of(connection, tables, person)
        said = list(said_elsewhere(connection, tables, person, accounts))
    if noted:
        _note(ctx, person=_digest(person))
    await asyncio.to_thread(forget_memories, ctx, person)
    await asyncio.to_thread(unnamed_in_files, ctx.paths.home, said)
    own = [(one, whose[owner]) for one, owner, _ in ids if owner in whose]
    for session_id, owner in own:
        try:
            await ctx.sessions.delete(owner, session_id, erased=True)
        except UnknownName:  # it went with the one that it worked for
            continue
    words = [person, *(one for one, _ in own)]
    names = [f"{platform}:{sender}" for platform, sender in accounts]
    for folder in folders_of(ctx.paths.home, person, {one.profile for one in whose.values()} | {ctx.owner.profile}):
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    list(_files(ctx.paths.home, [*words[1:], mark_of(person)]))
    # The rows go last: as long as they are there, a death leaves it to be done again.
    with connected(place_of(ctx), writes=True) as connection:
        take_out(connection, tables, said)
        leave_numbers(connection, tables, list(whose), ctx.owner.profile)
        clean_accounts(connection, tables, person, accounts)
        for table in reversed(tables_of(connection)):
            if "person" in table.columns and table.name != "owners":
                connection.execute(sa.delete(table).where(table.c.person == person))
            if "session_id" in table.columns:
                connection.execute(sa.delete(table).where(table.c.session_id.in_([one for one, _ in own])))
            if "owner" in table.columns and "__" not in table.name:
                connection.execute(sa.delete(table).where(table.c.owner.in_(list(whose))))
            if table.name == "documents":
                clean_documents(connection, table, [*words, *names])
        connection.execute(sa.delete(owners).where(owners.c.id.in_(list(whose))))
        connection.commit()
    await asyncio.to_thread(clean_logs, ctx.paths.home / "logs", [*words, *names])
    return [one for one, _ in own]


def back_again(ctx: PluginContext) -> tuple[Sequence[tuple[str, Principal]], Sequence[str]]:
    """Return the sessions and persons that were erased and are there: a copy of the home brought them back."""
    noted = note_of(ctx)
    if not noted.exists():
        return (), ()
    rows = [json.loads(line) for line in noted.read_text().splitlines() if line.strip()]
    gone = {row["session"] for row in rows if "session" in row}
    people = {row["person"] for row in rows if "person" in row}
    with connected(place_of(ctx)) as connection:
        tables = {table.name: table for table in tables_of(connection)}
        if "sessions" not in tables:
            return (), ()
        sessions, owners = tables["sessions"], tables["owners"]
        wanted = sa.select(sessions.c.id, owners.c.profile, owners.c.person).where(sessions.c.owner == owners.c.id)
        found = [
            (one, Principal(profile=profile, person=person))
            for one, profile, person in connection.execute(wanted)
            if one in gone or _digest(one) in gone  # older releases wrote it down as it is
        ]
        back = [one for one in connection.scalars(sa.select(owners.c.person)) if _digest(one) in people]
    return found, back


async def erase_again(ctx: PluginContext) -> int:
    """Erase what was erased before and came back; how many sessions and persons that were."""
    sessions, people = await asyncio.to_thread(back_again, ctx)
    for session_id, owner in sessions:
        await erase_session(ctx, owner, session_id, noted=False)
    for person in people:
        await erase_person(ctx, person, noted=False)
    return len(sessions) + len(people)


def _below(connection: sa.Connection, session_id: str) -> Iterator[str]:
    sessions = sa.Table("sessions", sa.MetaData(), autoload_with=connection)
    left = [session_id]
    while left:
        yield (one := left.pop())
        below = sa.and_(sessions.c.parent == one, sessions.c.origin == "child")
        left += connection.scalars(sa.select(sessions.c.id).where(below))


def _rows(connection: sa.Connection, table: sa.Table, person: str) -> bool:
    wanted = sa.select(sa.literal(1)).select_from(table).where(table.c.person == person).limit(1)
    return connection.execute(wanted).first() is not None


def _files(home: Path, ids: Sequence[str]) -> Iterator[Path]:
    """Remove the files and folders of a home that are named after sessions."""
    for folder, folders, names in os.walk(home):
        folders[:] = [name for name in folders if name not in _PASSED]
        for name in [*folders, *names]:
            if any(one in name for one in ids):
                path = Path(folder, name)
                if name in folders:
                    folders.remove(name)
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
                yield path


def _note(ctx: PluginContext, **what: str) -> None:
    """Write down that something is erased, before it is: a death leaves it to be erased again."""
    place = note_of(ctx)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with place.open("a") as file:
        file.write(json.dumps(what) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def mark_of(person: str) -> str:
    """Return what the names of a person's exports begin with; it does not say who that is."""
    return _digest(f"export of {person}")[:16]
