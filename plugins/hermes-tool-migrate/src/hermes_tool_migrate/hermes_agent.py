"""What Hermes Agent keeps in ``~/.hermes``, or where HERMES_HOME says: a folder of the same name as ours."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import yaml

from hermes_env_file.lines import values
from hermes_tool_migrate.found import Found, Known, Past, skills_below, text_of
from hermes_tool_migrate.past import Telling, texts_of
from hermes_tool_migrate.reference import read_environment, read_settings

__all__ = ["MARK", "is_its_database", "opened", "read"]

MARK = "_config_version"  # heads its settings, and never ours
_COLUMNS = ("role", "content", "tool_call_id", "tool_calls", "tool_name", "active", "compacted")


def read(folder: Path, known: Known, moved: Path | None = None) -> Found:
    """Read the folder; what was ``moved`` away by an earlier run is looked for there too. Raises OSError."""
    found = Found()
    places = [folder, *([moved] if moved else [])]
    config = next(filter(None, (_config(place / "config.yaml", found) for place in places)), {})
    read_settings({key: one for key, one in config.items() if key != MARK}, known, found)
    read_environment(values(text_of(folder / ".env")), known, found)
    found.soul = text_of(folder / "SOUL.md")
    found.memory += _entries(folder / "memories" / "MEMORY.md")
    found.user += _entries(folder / "memories" / "USER.md")
    found.skills += skills_below(folder / "skills", deepest=3)
    if database := next(filter(is_its_database, (place / "state.db" for place in places)), None):
        found.sessions = lambda: _sessions(database)
    if (folder / "cron" / "jobs.json").is_file():
        found.aside["cron-jobs.json"] = (folder / "cron" / "jobs.json", "schedules are no part of this Hermes yet")
    _not_taken(folder, found)
    return found


def _config(path: Path, found: Found) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text_of(path))
    except yaml.YAMLError as error:
        found.left.append((path.name, f"it cannot be read: {' '.join(str(error).split())}"))
        return {}
    return data if isinstance(data, dict) and MARK in data else {}


def _not_taken(folder: Path, found: Found) -> None:
    for name, why in (
        ("auth.json", "a login is not carried over; log in with: hermes setup"),
        ("pairing", "whoever was let in by a code asks for one again; or name them in allowed_users"),
        ("kanban.db", "there are no boards here"),
        ("hooks", "hooks are plugins here"),
        ("plugins", "plugins of another agent do not run here"),
        ("scripts", "scripts of schedules stay where they are"),
        ("skins", "skins of another agent are not read"),
    ):
        if (folder / name).exists() and (name != "plugins" or any((folder / name).glob("*/plugin.yaml"))):
            found.left.append((name, why))


def _entries(path: Path) -> list[str]:
    """Return what is remembered in a file: entries with a line of only § between them, as our own."""
    return [one for piece in re.split(r"(?m)^§[ \t]*$", text_of(path).replace("\r\n", "\n")) if (one := piece.strip())]


def is_its_database(path: Path) -> bool:
    """Tell whether a file is its store of conversations, and not ours."""
    if not path.is_file():
        return False
    try:
        with closing(opened(path)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return False
    return {"sessions", "messages", "schema_version"} <= tables and "alembic_version" not in tables


def opened(path: Path) -> sqlite3.Connection:
    """Open a database to read it. Where it has no log beside it, none is made."""
    alone = not path.with_name(f"{path.name}-wal").exists()
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _sessions(path: Path) -> Iterator[Past]:
    with closing(opened(path)) as connection:
        columns = {row["name"] for row in connection.execute("PRAGMA table_info(messages)")}
        wanted = ", ".join(name for name in _COLUMNS if name in columns)
        shown = " AND (active = 1 OR compacted = 1)" if {"active", "compacted"} <= columns else ""
        rows = connection.execute("SELECT * FROM sessions ORDER BY started_at").fetchall()
        for row in rows:
            said = connection.execute(
                f"SELECT {wanted} FROM messages WHERE session_id = ?{shown} ORDER BY id",  # noqa: S608 - names of ours
                (row["id"],),
            )
            telling = Telling()
            for one in said:
                _message(telling, dict(one))
            if messages := telling.messages():
                session = dict(row)
                began = session.get("started_at")
                when = time.strftime("%Y-%m-%dT%H:%M", time.localtime(began)) if isinstance(began, float | int) else ""
                yield Past(str(row["id"]), str(session.get("title") or ""), when or str(began or ""), messages)


def _message(telling: Telling, row: dict[str, Any]) -> None:
    role, content = row["role"], row.get("content") or ""
    texts = [str(content)]
    if str(content).startswith("["):
        with suppress(ValueError):
            texts = texts_of(json.loads(content)) or texts  # words and pictures are written as JSON
    if role == "tool":
        telling.result(str(row.get("tool_call_id") or ""), "\n".join(texts), name=row.get("tool_name") or "")
        return
    telling.say(role, *texts)
    try:
        calls = json.loads(row.get("tool_calls") or "[]")
    except ValueError:
        calls = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            telling.call(str(call.get("id", "")), str(function.get("name", "")), function.get("arguments"))
