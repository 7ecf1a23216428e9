"""Every statement of the store, by name, in SQLAlchemy Core, over the tables that the migrations make.

The statements are in ``statements/``, beside this file: nothing of them is installed.
Importing SQLAlchemy costs a one-shot more than its own work, so what it says for SQLite is written down once, in
``versions/head``. A test holds the two equal. After every change of a statement and every new migration run
``python tests/house/frozen_sql.py``. What a server wants in other words is its driver's business.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from statements.documents import DOCUMENTS
from statements.gateway import GATEWAY
from statements.journal import JOURNAL
from statements.tables import database

ROOT = Path(__file__).parents[2]
HEAD = ROOT / "hermes_core" / "store" / "versions" / "head" / "__init__.py"
STATEMENTS: dict[str, sa.Executable] = {**JOURNAL, **GATEWAY, **DOCUMENTS}


def frozen_sources() -> dict[Path, str]:
    """The files of ``versions/head`` as they should be now."""
    made = database.execute("SELECT sql FROM sqlite_master WHERE sql != '' AND tbl_name NOT GLOB 'search_*'")
    [(head,)] = database.execute("SELECT version_num FROM alembic_version")
    [(merge,)] = database.execute("SELECT v FROM search_config WHERE k = 'automerge'")
    ddl = [" ".join(sql.split()) for (sql,) in made]
    ddl.append(f"INSERT INTO search (search, rank) VALUES ('automerge', {merge})")
    ddl.append(f"INSERT INTO alembic_version VALUES ('{head}')")
    local = {"HEAD": head, "DDL": ddl, "SQL": {name: _compiled(one) for name, one in STATEMENTS.items()}}
    return {HEAD: _source(local)}


def _source(written: Mapping[str, object]) -> str:
    top = '"""Written by ``python tests/house/frozen_sql.py``; do not edit."""\n\n# fmt: off\n# ruff: noqa: E501\n'
    return "\n".join([top, *(f"{name} = {json.dumps(value, indent=4)}" for name, value in written.items()), ""])


def _compiled(statement: sa.Executable) -> str:
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="named"))  # type: ignore[attr-defined]
    sql = " ".join(str(compiled).split())
    for name, value in compiled.params.items():
        if value is not None:  # a constant of ours: written out, so that only named parameters remain
            written = ", ".join(repr(item) for item in (value if isinstance(value, list | tuple) else (value,)))
            sql = re.sub(rf":{name}\b|__\[POSTCOMPILE_{name}\]", written.replace("\\", r"\\"), sql)
    return sql


if __name__ == "__main__":
    for path, source in frozen_sources().items():
        path.write_text(source, encoding="utf-8")
