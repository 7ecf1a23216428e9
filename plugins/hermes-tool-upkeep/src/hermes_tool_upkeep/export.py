"""Everything that is kept of a person, in one file to be read without Hermes."""

import asyncio
import io
import json
import os
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal
from hermes_openai_shape.write import conversation
from hermes_tool_upkeep.erase import mark_of, place_of
from hermes_tool_upkeep.memories import given_out
from hermes_tool_upkeep.rows import connected, tables_of
from hermes_tool_upkeep.said import accounts_of, said_elsewhere
from hermes_tool_upkeep.traces import folders_of

__all__ = ["drop_exports", "export_person"]

_KEPT = 86_400.0  # seconds that an export which was sent lies here
_LARGEST = 40 << 20  # bytes of files that go in; chat services take no more
_README = """Everything that this Hermes keeps of {person}, as of {when}.

sessions/        conversations, a file each, in the shape that OpenAI's API has
memory.jsonl     what is remembered of you
files/           the folder in which your conversations work
rows/            the rows of the store that are yours, a file for each table
in-groups.jsonl  what you said in conversations that a group shares
{left_out}"""


async def export_person(ctx: PluginContext, person: str, folder: Path, name: str = "") -> Path:
    """Write everything of a person into a new file of a folder; where it is. Raises UnknownName."""
    rows = await asyncio.to_thread(_rows, place_of(ctx), person)
    whose = [Principal(profile=one["profile"], person=person) for one in rows.get("owners", ())]
    if not rows:
        raise UnknownName("person", person)
    sessions: dict[str, Any] = {}
    for owner in whose:
        for row in await ctx.sessions.rows(owner, limit=1_000_000, children=True):
            prompt = await ctx.sessions.prompt(owner, row.session.id)
            said = conversation(prompt, await ctx.sessions.past(owner, row.session.id))
            sessions[row.session.id] = {"title": row.session.title, "updated": row.updated, "messages": said}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / (name or f"{mark_of(person)}-{time.strftime('%Y%m%d-%H%M%S')}.zip")
    return await asyncio.to_thread(_written, ctx, person, path, rows, sessions)


def drop_exports(folder: Path, now: float) -> None:
    """Delete the exports that were sent a day ago."""
    for one in folder.glob("*.zip"):
        if now - one.stat().st_mtime > _KEPT:
            one.unlink(missing_ok=True)


def _rows(place: str | Path, person: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of a person by table, and what they said in conversations of others."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    with connected(place) as connection:
        tables = {table.name: table for table in tables_of(connection)}
        owners, sessions = tables["owners"], tables["sessions"]
        numbers = sa.select(owners.c.id).where(owners.c.person == person)
        ids = sa.select(sessions.c.id).where(sessions.c.owner.in_(numbers))
        for name, table in tables.items():
            columns = table.columns
            mine = [columns["person"] == person] if "person" in columns else []
            mine += [columns["owner"].in_(numbers)] if "owner" in columns and "__" not in name else []
            mine += [columns["session_id"].in_(ids)] if "session_id" in columns else []
            wanted = sa.select(table).where(sa.or_(sa.false(), *mine))
            found[name] = [dict(row) for row in connection.execute(wanted).mappings()]
        said = said_elsewhere(connection, tables, person, accounts_of(connection, tables, person))
        known = ({"session": one.session_id, "texts": one.texts, "files": one.files} for one in said)
        found["in-groups"] = list(known)
    return {name: rows for name, rows in found.items() if rows}


def _written(
    ctx: PluginContext,
    person: str,
    path: Path,
    rows: Mapping[str, list[Mapping[str, Any]]],
    sessions: Mapping[str, Any],
) -> Path:
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for session_id, told in sessions.items():
                archive.writestr(f"sessions/{session_id}.json", json.dumps(told, ensure_ascii=False, indent=1))
            for name, lines in rows.items():
                place = "in-groups.jsonl" if name == "in-groups" else f"rows/{name}.jsonl"
                archive.writestr(place, _lines(lines))
            kept, missing = given_out(ctx, person)
            archive.writestr("memory.jsonl", kept)
            left = missing + _files_into(archive, ctx, person)
            when = time.strftime("%Y-%m-%d %H:%M")
            archive.writestr("README.txt", _README.format(person=person, when=when, left_out=left))
        draft.replace(path)
    except OSError as error:
        raise UserError(f"The export could not be written to {path.parent}: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)
    return path


def _lines(rows: list[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    for row in rows:
        text.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return text.getvalue()


def _files_into(archive: zipfile.ZipFile, ctx: PluginContext, person: str) -> str:
    """Put the files of a guest's folder in, as far as there is room; what to say of those that are not."""
    size, left = 0, 0
    for path, name in _files(ctx, person):
        if size + path.stat().st_size > _LARGEST:
            left += 1
            continue
        size += path.stat().st_size
        archive.write(path, f"files/{name}")
    return f"\n{left} files were too large to go in; whoever runs this Hermes can give them to you.\n" if left else ""


def _files(ctx: PluginContext, person: str) -> Iterator[tuple[Path, str]]:
    for folder in folders_of(ctx.paths.home, person, {ctx.owner.profile}):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path, str(path.relative_to(folder))
