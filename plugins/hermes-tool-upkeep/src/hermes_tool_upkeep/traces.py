"""What tells of an erased session or person beside rows and files of theirs: entries of documents, lines of logs."""

import hashlib
import json
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

__all__ = ["clean_documents", "clean_logs", "folders_of", "settings_that_name"]


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
