"""What the kernel asks is said in the server's words, and the server understands every statement."""

import re
from typing import Any

import pytest

from hermes_backend_postgresql.statements import adding, asked, translated
from hermes_core.store.versions.head import SQL


@pytest.mark.parametrize(
    ("sqlite", "server"),
    [
        ("SELECT a FROM t WHERE b = :b AND c = ':'", "SELECT a FROM t WHERE b = %(b)s AND c = ':'"),
        (
            "SELECT substr(k, 1, 5) = 'head:' LIMIT :limit",
            "SELECT substr(k, 1, 5) = 'head:' LIMIT nullif(%(limit)s, -1)",
        ),
        ("SELECT CAST(a / (900 + 0.0) AS INTEGER)", "SELECT floor(a / (900 + 0.0))"),
        ("SELECT a FROM t WHERE a LIKE '%' || :b", "SELECT a FROM t WHERE a LIKE '%%' || %(b)s"),
        ("SELECT a::b", "SELECT a::b"),
    ],
)
def test_a_statement_is_said_in_the_servers_words(sqlite: str, server: str) -> None:
    assert translated({"one": sqlite})["one"] == server


def test_the_search_is_the_servers_own_and_rows_of_it_are_never_dropped() -> None:
    made = translated({"search_newest": "MATCH", "search_oldest": "MATCH", "search_drop": "INSERT"})
    assert sorted(made) == ["search_newest", "search_newest_near", "search_oldest", "search_oldest_near"]
    assert not any("MATCH" in sql for sql in made.values())


def test_phrases_are_looked_up_word_by_word_and_held_in_order() -> None:
    assert asked([" a ", " b c ", " c "]) == {"words": ["a", "b", "c"], "phrases": ["% b c %"]}
    assert asked([" a "]) == {"words": ["a"], "phrases": ["%"]}


@pytest.mark.real
def test_the_server_understands_every_statement_of_the_kernel(database_url: str) -> None:
    import psycopg

    known: dict[str, Any] = {"words": ["a"], "phrases": ["%"]}
    made = translated(SQL)
    assert set(SQL) - set(made) == {"search_drop"}
    made |= {f"{name} adds": adding(made[name]) for name in ("owner_add", "message_add", "inbox_wait")}
    with psycopg.connect(database_url, autocommit=True) as connection:
        for name, sql in made.items():
            names = re.findall(r"%\((\w+)\)s", sql)
            search = name.startswith(("search_newest", "search_oldest"))
            values = {n: known.get(n) if search else None for n in names}
            connection.execute(f"EXPLAIN {sql}".encode(), values)
