"""What tells of an erased session or person beside rows and files of theirs: entries of documents, lines of logs."""

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

__all__ = ["clean_accounts", "clean_documents", "clean_logs", "folders_of", "leave_numbers", "settings_that_name"]

_NOBODY = "(erased)"  # whose the figures of erased people are; nobody can be called so


def clean_documents(connection: sa.Connection, table: sa.Table, words: Collection[str]) -> None:
    """Take out of what plugins keep each entry that names one of the words."""
    wanted = sa.or_(sa.false(), *(table.c.body.contains(word, autoescape=True) for word in words))
    key = [*table.primary_key.columns]
    for row in connection.execute(sa.select(*key, table.c.body, table.c.version).where(wanted)).mappings().all():
        value = json.loads(row["body"])
        left = _without(value, words)
        if left == value:
            continue
        where = sa.and_(*(column == row[column.name] for column in key))
        if left:
            body = json.dumps(left, ensure_ascii=False, separators=(",", ":"))
            connection.execute(sa.update(table).where(where).values(body=body, version=row["version"] + 1))
        else:
            connection.execute(sa.delete(table).where(where))


def _without(value: Any, words: Collection[str]) -> Any:
    """Return a document without its entries that name one of the words; nothing of one that has no entries."""
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if key not in words and not _names(one, words)}
    if isinstance(value, list):
        return [one for one in value if not _names(one, words)]
    return None if _names(value, words) else value


def _names(value: Any, words: Collection[str]) -> bool:
    if isinstance(value, dict):
        return any(key in words or _names(one, words) for key, one in value.items())
    if isinstance(value, list):
        return any(_names(one, words) for one in value)
    return isinstance(value, str) and value in words


def leave_numbers(
    connection: sa.Connection, tables: Mapping[str, sa.Table], owners: Collection[int], profile: str
) -> None:
    """Let what was spent stay as numbers, which belong to nobody any more."""
    calls, known = tables["model_calls"], tables["owners"]
    mine = calls.c.owner.in_(list(owners))
    if connection.execute(sa.select(sa.literal(1)).select_from(calls).where(mine).limit(1)).first() is None:
        return
    nobody = sa.select(known.c.id).where(known.c.profile == profile, known.c.person == _NOBODY)
    if connection.scalar(nobody) is None:
        connection.execute(sa.insert(known).values(profile=profile, person=_NOBODY))
    unnamed = {"owner": connection.scalar(nobody), "session_id": "", "turn_id": ""}
    connection.execute(sa.update(calls).where(mine).values(unnamed))


def clean_accounts(
    connection: sa.Connection, tables: Mapping[str, sa.Table], person: str, accounts: Collection[tuple[str, str]]
) -> None:
    """Take accounts out of the rows of others and of plugins: who spoke last in a group, who let whom in."""
    names = {f"{platform}:{sender}" for platform, sender in accounts} | ({person} if ":" in person else set())
    by = {person, *names, *(f"invited by {one}" for one in (person, *names))}
    for table in tables.values():
        columns = table.columns
        if "__" in table.name:
            about = [one.in_(list(names)) for one in columns if isinstance(one.type, sa.Text) and one.name != "person"]
            connection.execute(sa.delete(table).where(sa.or_(sa.false(), *about)))
        if {"platform", "sender"} <= set(columns.keys()):
            for platform, sender in accounts:
                theirs = sa.and_(columns["platform"] == platform, columns["sender"] == sender)
                connection.execute(sa.update(table).where(theirs).values(sender=""))
        if "by" in columns:
            connection.execute(sa.update(table).where(columns["by"].in_(list(by))).values(by=""))
        told = [columns["body"].contains(f"({one})", autoescape=True) for one in names] if "body" in columns else []
        if told and {"state", "sent"} <= set(columns.keys()):  # what was sent of them to admins
            over = columns["state"].in_(("sent", "failed", "abandoned"))
            connection.execute(sa.delete(table).where(over, sa.or_(*told)))
    inbox = tables["inbox"]
    named = sa.or_(sa.false(), *(inbox.c.body.contains(one, autoescape=True) for one in names))
    ordered = sa.and_(inbox.c.mode == "command", inbox.c.turn_id != "", named)
    connection.execute(sa.update(inbox).where(ordered).values(body="", envelope=""))
    for platform, sender in accounts:  # what they wrote where others do, commands too
        wrote = inbox.c.envelope.contains(f'"sender":{json.dumps(sender, ensure_ascii=False)}', autoescape=True)
        there = sa.and_(inbox.c.platform == platform, wrote)
        connection.execute(sa.update(inbox).where(there).values(body="", envelope=""))


def clean_logs(folder: Path, words: Collection[str]) -> int:
    """Take the lines out of logs that name one of the words; how many. A log is replaced whole, or not at all."""
    if not words:
        return 0
    found, gone = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words)), 0
    for log in sorted(folder.glob("*")):
        if not log.is_file() or log.is_symlink():
            continue
        kept, gone_here, size = _kept(log, found)
        if not gone_here:
            continue
        draft = log.with_name(f".{log.name}.{os.getpid()}.new")
        try:
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, log.stat().st_mode & 0o777), "wb"
            ) as new:
                new.writelines(kept)
                with log.open("rb") as old:  # what was written meanwhile
                    old.seek(size)
                    new.writelines(line for line in old if not found.search(line.decode(errors="replace")))
                new.flush()
                os.fsync(new.fileno())
            draft.replace(log)
        finally:
            draft.unlink(missing_ok=True)
        gone += gone_here
    return gone


def _kept(log: Path, found: re.Pattern[str]) -> tuple[list[bytes], int, int]:
    lines = log.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not found.search(line.decode(errors="replace"))]
    return kept, len(lines) - len(kept), sum(map(len, lines))


def folders_of(home: Path, person: str, profiles: Collection[str]) -> Sequence[Path]:
    """Return the folders in which a guest's sessions worked: their names end in a digest of who that is."""
    digests = {
        hashlib.sha256(f"{profile}\0{person}".encode("utf-8", "replace")).hexdigest()[:16] for profile in profiles
    }
    return [one for one in sorted((home / "people").glob("*")) if one.name.rpartition("-")[2] in digests]


def settings_that_name(home: Path, person: str) -> Sequence[str]:
    """Return the lines of the settings in which a person is named: only who runs this Hermes takes them out."""
    found, file = re.compile(rf"(?<!\w){re.escape(person)}(?!\w)"), home / "config.yaml"
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    return [f"line {number}: {line.strip()}" for number, line in enumerate(lines, 1) if found.search(line)]
