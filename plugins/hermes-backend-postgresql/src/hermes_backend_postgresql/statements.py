"""The kernel's statements in a server's words. It gives them as SQLite has them; little is said differently here."""

import re
from collections.abc import Mapping, Sequence

__all__ = ["adding", "asked", "translated"]

_END_ROWS = 2000
_PARAMETER = re.compile(r"(?<![\w:]):([a-z_]\w*)")
# SQLite's cast cuts, a server's rounds.
_CUT = re.compile(r"CAST\(([^()]*(?:\([^()]*\)[^()]*)?) AS INTEGER\)")
_MATCHING = """SELECT search.rowid AS rowid FROM search
    WHERE string_to_array(search.words, ' ') @> %(words)s AND search.words LIKE ALL (%(phrases)s)
    AND (%(children)s = 1 OR NOT EXISTS (
        SELECT messages.id FROM messages JOIN sessions ON sessions.id = messages.session_id
        WHERE messages.id = search.rowid AND (sessions.origin = 'child' OR sessions.parent LIKE '%%/%%')))"""
_FOUND = """SELECT messages.session_id, messages.role, messages.created, messages.body, messages.id AS message_id,
    sessions.title, sessions.origin
    FROM ({hits} ORDER BY rowid {order} LIMIT nullif(%(limit)s, -1)) AS found
    JOIN messages ON messages.id = found.rowid JOIN sessions ON sessions.id = messages.session_id
    WHERE messages.owner = %(owner)s ORDER BY messages.id {order}"""
# Words that are everywhere are in the rows at the end; for all others only the index is fast: the planner is told so.
_NEAR = {
    "DESC": f"{_MATCHING} AND search.rowid > (SELECT max(rowid) - {_END_ROWS} FROM search)",  # noqa: S608 - our own
    "ASC": f"{_MATCHING} AND search.rowid < (SELECT min(rowid) + {_END_ROWS} FROM search)",  # noqa: S608 - our own
}
_BY_INDEX = "SELECT hits.rowid AS rowid FROM hits"


def translated(statements: Mapping[str, str]) -> dict[str, str]:
    """Every statement as psycopg takes it: its parameters, what SQLite calls no limit, and casts; and the search."""
    made = {name: _translated(sql) for name, sql in statements.items()}
    for order, name in (("DESC", "search_newest"), ("ASC", "search_oldest")):
        by_index = _FOUND.format(hits=_BY_INDEX, order=order)
        made[name] = f"WITH hits AS MATERIALIZED ({_MATCHING}) {by_index}"
        made[f"{name}_near"] = _FOUND.format(hits=_NEAR[order], order=order)
    made.pop("search_drop", None)  # the row goes with its message
    return made


def _translated(sql: str) -> str:
    sql = _PARAMETER.sub(r"%(\1)s", _CUT.sub(r"floor(\1)", sql.replace("%", "%%")))
    return sql.replace("LIMIT %(limit)s", "LIMIT nullif(%(limit)s, -1)")  # -1 is SQLite's word for all


def adding(sql: str) -> str:
    """An insert that answers with the new row's number."""
    return f"{sql} RETURNING id"


def asked(phrases: Sequence[str]) -> dict[str, list[str]]:
    """What a search looks up: the words, and the phrases in which they must stand."""
    cut = [phrase.split() for phrase in phrases]
    words = list(dict.fromkeys(word for phrase in cut for word in phrase))
    return {"words": words, "phrases": [f"% {' '.join(p)} %" for p in cut if len(p) > 1] or ["%"]}
