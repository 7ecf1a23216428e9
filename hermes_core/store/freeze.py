"""Compile the statements and tables for SQLite ahead of time: ``python -m hermes_core.store.freeze``.

Importing SQLAlchemy costs a one-shot more than its own work, so what it says is written down once, in ``frozen.py``.
A test holds the two equal. Run it after every change of ``tables`` or ``statements``.
"""

import json
import re
from pathlib import Path

HEADER = (
    '"""Written by ``python -m hermes_core.store.freeze`` from tables and statements; do not edit."""\n\n'
    "# fmt: off\n# ruff: noqa: E501\n"
)


def frozen_source() -> str:
    """The source of ``frozen.py`` as it should be now."""
    from hermes_core.store.statements import STATEMENTS
    from hermes_core.store.tables import HEAD

    lines = [HEADER, f"HEAD = {json.dumps(HEAD)}", "DDL = ("]
    lines += [f"    {json.dumps(sql)}," for sql in schema()]
    lines += [")", "SQL = {"]
    lines += [f"    {json.dumps(name)}: {json.dumps(_compiled(statement))}," for name, statement in STATEMENTS.items()]
    return "\n".join([*lines, "}", ""])


def schema() -> list[str]:
    """The statements that make an empty database one at head."""
    from sqlalchemy.dialects.sqlite import dialect
    from sqlalchemy.schema import CreateIndex, CreateTable

    from hermes_core.store.tables import SEARCH_DDL, metadata

    made = []
    for table in metadata.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect())))
        made += [
            str(CreateIndex(i).compile(dialect=dialect())) for i in sorted(table.indexes, key=lambda i: str(i.name))
        ]
    return [" ".join(sql.split()) for sql in [*made, *SEARCH_DDL]]


def _compiled(statement: object) -> str:
    from sqlalchemy import Executable
    from sqlalchemy.dialects.sqlite import dialect

    assert isinstance(statement, Executable)
    compiled = statement.compile(dialect=dialect(paramstyle="named"))  # type: ignore[attr-defined]
    sql = " ".join(str(compiled).split())
    for name, value in compiled.params.items():
        if value is not None:  # a constant of ours: written out, so that only named parameters remain
            written = ", ".join(repr(item) for item in (value if isinstance(value, list | tuple) else (value,)))
            sql = re.sub(rf":{name}\b|__\[POSTCOMPILE_{name}\]", written.replace("\\", r"\\"), sql)
    return sql


if __name__ == "__main__":
    Path(__file__).with_name("frozen.py").write_text(frozen_source(), encoding="utf-8")
