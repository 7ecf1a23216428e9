"""What the kernel asks is said in the server's words, and the server understands every statement."""

import re
from typing import Any

import pytest

from hermes_backend_postgresql.statements import adding, searching, translated
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
    assert translated({"search_newest": "MATCH", "search_oldest": "MATCH", "search_drop": "INSERT"}) == {}


def test_messages_are_named_by_one_list() -> None:
    made = translated({"one": "WHERE id IN (SELECT wanted.value FROM json_each(:rows) AS wanted)"})["one"]
    named = "json_array_elements_text(%(rows)s::json) AS wanted(value)"
    assert made == f"WHERE id IN (SELECT wanted.value::bigint FROM {named})"


def test_phrases_are_looked_up_word_by_word_and_held_in_order() -> None:
    sql, values = searching([[" a ", " b ", " c d "], [" e "]], "newest", near=False)
    assert values == {"w0": ["a", "b"], "w1": "% c d %", "w2": ["c", "d"], "w3": ["e"]}
    assert sql.count("&&") == 2
    assert (
        sql.index("%(w0)s") < sql.index("@> %(w2)s") < sql.index(" AND (string_to_array(search.words, ' ') && %(w3)s")
    )
    assert searching([[]], "oldest", near=True)[1] == {}


@pytest.mark.real
def test_the_server_understands_every_statement_of_the_kernel(database_url: str) -> None:
    import psycopg

    made = translated(SQL)
    assert set(SQL) - set(made) == {"search_drop", "search_newest", "search_oldest"}
    made |= {f"{name} adds": adding(made[name]) for name in ("owner_add", "message_add", "inbox_wait")}
    with psycopg.connect(database_url, autocommit=True) as connection:
        for sql in made.values():
            names = re.findall(r"%\((\w+)\)s", sql)
            connection.execute(f"EXPLAIN {sql}".encode(), dict.fromkeys(names))
        for order in ("newest", "oldest"):
            for near in (True, False):
                sql, values = searching([[" a ", " b c "], []], order, near=near)
                given: dict[str, Any] = {**values, "first": 1, "last": 9, "limit": 3}
                connection.execute(f"EXPLAIN {sql}".encode(), given)
