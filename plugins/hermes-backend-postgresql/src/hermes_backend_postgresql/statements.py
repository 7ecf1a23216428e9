"""The kernel's statements in a server's words. It gives them as SQLite has them; little is said differently here."""

import re
from collections.abc import Mapping, Sequence

__all__ = ["adding", "searching", "translated"]

_END_ROWS = 2000
_PARAMETER = re.compile(r"(?<![\w:]):([a-z_]\w*)")
# SQLite's cast cuts, a server's rounds.
_CUT = re.compile(r"CAST\(([^()]*(?:\([^()]*\)[^()]*)?) AS INTEGER\)")
# Words that are everywhere are in the rows at the end; for all others only the index is fast: the planner is told so.
_NEAR = {
    "newest": f"search.rowid > (SELECT max(rowid) - {_END_ROWS} FROM search)",  # noqa: S608 - our own
    "oldest": f"search.rowid < (SELECT min(rowid) + {_END_ROWS} FROM search)",  # noqa: S608 - our own
}
_ORDERS = {"newest": "DESC", "oldest": "ASC"}
_AMONG = ("json_each(%(rows)s) AS wanted", "json_array_elements_text(%(rows)s::json) AS wanted(value)")


def translated(statements: Mapping[str, str]) -> dict[str, str]:
    """Every statement as psycopg takes it: its parameters, what SQLite calls no limit, and casts; and the search."""
    made = {name: _translated(sql) for name, sql in statements.items()}
    for name in ("search_drop", "search_newest", "search_oldest"):  # rows go with messages; for the others see below
        made.pop(name, None)
    return made


def _translated(sql: str) -> str:
    sql = _PARAMETER.sub(r"%(\1)s", _CUT.sub(r"floor(\1)", sql.replace("%", "%%")))
    sql = sql.replace("SELECT wanted.value FROM", "SELECT wanted.value::bigint FROM").replace(*_AMONG)
    return sql.replace("LIMIT %(limit)s", "LIMIT nullif(%(limit)s, -1)")  # -1 is SQLite's word for all


def adding(sql: str) -> str:
    """An insert that answers with the new row's number."""
    return f"{sql} RETURNING id"


def searching(groups: Sequence[Sequence[str]], order: str, *, near: bool) -> tuple[str, dict[str, list[str] | str]]:
    """Return how the messages are looked up in which a phrase of each group stands, and with which values.

    ``near``: only among those at the end.
    """
    values: dict[str, list[str] | str] = {}
    wanted = [_either([cut for phrase in phrases if (cut := phrase.split())], values) for phrases in groups]
    among = f"search.rowid BETWEEN %(first)s AND %(last)s AND {' AND '.join(wanted)}"
    found = f"SELECT search.rowid AS rowid FROM search WHERE {among}"  # noqa: S608 - our own
    end = f"ORDER BY rowid {_ORDERS[order]} LIMIT %(limit)s"
    if near:
        return f"{found} AND {_NEAR[order]} {end}", values
    return f"WITH hits AS MATERIALIZED ({found}) SELECT rowid FROM hits {end}", values  # noqa: S608 - our own


def _either(phrases: Sequence[Sequence[str]], values: dict[str, list[str] | str]) -> str:
    """Return what holds where one of the phrases stands; its ``values`` are added."""
    words = "string_to_array(search.words, ' ')"
    ways: list[str] = []
    if single := [phrase[0] for phrase in phrases if len(phrase) == 1]:
        ways.append(f"{words} && %({_named(values, single)})s::text[]")
    for phrase in (phrase for phrase in phrases if len(phrase) > 1):
        inside = f"search.words LIKE %({_named(values, _beside(phrase))})s"
        ways.append(f"({words} @> %({_named(values, list(phrase))})s::text[] AND {inside})")
    return f"({' OR '.join(ways)})" if ways else "false"


def _beside(phrase: Sequence[str]) -> str:
    return f"% {' '.join(phrase)} %"


def _named(values: dict[str, list[str] | str], value: list[str] | str) -> str:
    name = f"w{len(values)}"
    values[name] = value
    return name
