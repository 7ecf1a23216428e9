"""Which messages are meant, over an index of the test's own; and that a search looks at few of them."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from hermes_fulltext.ranking import Among, search
from hermes_fulltext.words import index_words, quoted

NOW = 1_795_867_200.0  # a Saturday in November 2026
DAY = 86_400.0


class Said:
    """Messages and their index, one session for every ten; it counts what is read of them."""

    server = False

    def __init__(self, texts: Sequence[str], *, apart: float = 60.0) -> None:
        self.read = self.looked_up = 0
        self._rows = sqlite3.connect(":memory:")
        self._rows.execute("CREATE VIRTUAL TABLE search USING fts5(words, tokenize='unicode61 remove_diacritics 2')")
        indexed = ((row, index_words(text, 1)) for row, text in enumerate(texts, 1))
        self._rows.executemany("INSERT INTO search (rowid, words) VALUES (?, ?)", indexed)
        self._said = [
            {
                "message_id": row,
                "id": row,
                "session_id": f"s{row // 10}",
                "role": "user",
                "body": text,
                "created": NOW - apart * (len(texts) - row),
                "title": "",
                "origin": "cli",
                "parent": "",
            }
            for row, text in enumerate(texts, 1)
        ]

    def found(self, groups: Sequence[Sequence[str]], first: int, last: int, limit: int, order: str) -> Sequence[int]:
        sql = "SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid"
        wanted = (quoted(groups), first, last, limit)
        rows = self._rows.execute(f"{sql} {'DESC' if order == 'newest' else ''} LIMIT ?", wanted).fetchall()
        self.looked_up += len(rows)
        return [row for (row,) in rows]

    def rows(self, name: str, /, **values: Any) -> Sequence[Any]:
        if name == "search_span":
            return [{"first": 1 if self._said else None, "last": len(self._said) or None}]
        if name == "search_near":
            return self._said[values["row"] - 1 : values["row"]]
        if name == "messages_from":
            said = self._said[values["start"] - 1 : values["start"]]
            return [one for one in said if one["session_id"] == values["session_id"]]
        assert name == "search_said"
        wanted = json.loads(values["rows"])
        self.read += len(wanted)
        return [self._said[row - 1] for row in wanted]


def found(said: Said, words: str, **among: Any) -> list[int]:
    """Return the numbers of what is meant."""
    hits = search(said, words, lambda body: (body, False, None), 1, Among(**among), NOW, alone=True)
    return [one.row for one in hits]


def test_rare_words_say_more_than_common_ones() -> None:
    said = Said([*["the report is late"] * 30, "the heron report", "a heron"])
    assert found(said, "report of a heron", limit=3)[0] == 31
    assert found(said, "heron report late", limit=3)[:2] in ([31, 32], [31, 30])


def test_nothing_is_found_of_nothing() -> None:
    assert found(Said([]), "heron") == []
    assert found(Said(["heron"]), "") == []
    assert found(Said(["heron"]), "zebra") == []


@pytest.mark.parametrize("words", ["alpha", "alpha beta", "alpha beta gamma", "alpha beta gamma rare", "zebra alpha"])
def test_a_search_looks_at_few_messages_however_many_hold_the_words(words: str) -> None:
    looked_up = []
    for many in (3_000, 12_000):
        said = Said(["alpha beta gamma delta", "alpha gamma", "beta alpha"] * (many // 3) + ["a rare one"])
        assert len(found(said, words)) == 10
        assert said.read <= 120
        looked_up.append(said.looked_up)
    assert looked_up[1] == looked_up[0] <= 4_000


def test_what_says_all_is_found_however_far_back_it_is() -> None:
    said = Said(["alpha beta gamma", *["alpha beta", "beta gamma", "gamma alpha"] * 2_000])
    assert found(said, "alpha beta gamma", limit=1) == [1]


def test_what_says_all_is_found_among_many_words_that_are_everywhere() -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    mixed = [" ".join(words[(row + off) % 6] for off in range(2 + row % 4)) for row in range(9_000)]
    said = Said([" ".join(words), *mixed])
    assert found(said, " ".join(words), limit=1) == [1]
    assert said.looked_up <= 3_600


@pytest.mark.parametrize(
    "words", ["the umbrela of Ottilie", "umbrellla Ottilie", "Ottilie's umbrlela", "umbxella Ottilie", "Otilie umbrell"]
)
def test_what_was_meant_is_found_where_a_finger_slipped(words: str) -> None:
    said = Said(
        ["the pot of Ottilie"] * 20 + ["Ottilie lost the umbrella"] + ["Ottilie sang", "the umbrella stand"] * 20
    )
    assert found(said, words, limit=1) == [21]


def test_a_slip_alone_finds_what_was_meant_and_what_nobody_said_finds_nothing() -> None:
    said = Said(["nothing", "the umbrella", "a gathering"] * 5)
    assert set(found(said, "umbrfella")) == {2, 5, 8, 11, 14}
    assert found(said, "zeppelin") == []
    assert found(said, '"umbrela"') == [], "what stands between quotes is meant as it is"


def test_a_time_alone_lists_what_was_said_then() -> None:
    said = Said([f"number {row}" for row in range(40)], apart=DAY)
    assert found(said, "what did we say 3 days ago?") == [37]
    assert found(said, "yesterday") == [39]
    assert len(found(said, "last week")) == 7
