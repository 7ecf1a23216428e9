"""What plugins' tables are called, and which there are: looking imports neither SQLAlchemy nor alembic."""

import re

from hermes_core.errors import ContractError
from hermes_core.store.engine import Transaction
from hermes_core.types import JSON

__all__ = ["VERSION", "objects_in", "owners_of_tables", "prefix_of"]

VERSION = "version"
_PLAIN = re.compile(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*")
_OWNED = re.compile(rf"([a-z]+)_([a-z0-9]+(?:_[a-z0-9]+)*)__{VERSION}")
_NAMES = {
    False: "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'",
    True: """SELECT c.relname, c.relkind::text || coalesce((SELECT string_agg(attname || ' ' || atttypid::text || ' ' ||
        attnotnull::text, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0), '')
        FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace""",
}


def prefix_of(label: str) -> str:
    """What the names of a plugin's tables begin with; no other plugin's prefix begins with it. Raises ContractError."""
    if not _PLAIN.fullmatch(label):
        text = "the name of a plugin with tables has lower-case letters and digits, and single - between them"
        raise ContractError(label, text)
    return f"{label.replace('/', '_').replace('-', '_')}__"


def owners_of_tables(tx: Transaction) -> dict[str, str]:
    """The prefixes there are in a database, each with the label of the plugin that has it."""
    found = (_OWNED.fullmatch(name) for name in objects_in(tx))
    return {f"{m[1]}_{m[2]}__": f"{m[1]}/{m[2].replace('_', '-')}" for m in found if m}


def objects_in(tx: Transaction) -> dict[str, JSON]:
    """Tables, indexes, views, … by name, each with what it is made of."""
    return {str(name): made for name, made in tx.connection.execute(_NAMES[tx.server])}
