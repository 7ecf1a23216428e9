"""Rows as the kernel reads them: by position and by name, sums of whole numbers as such."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader

__all__ = ["Number", "Row", "rows_of"]


class Row(tuple[Any, ...]):
    """A row by position and by name, as SQLite has them."""

    names: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """The names of the columns."""
        return list(self.names)


@cache
def _row(*columns: str) -> type[Row]:
    names: dict[str, int] = {}
    for at, name in enumerate(columns):
        names.setdefault(name, at)
    return type("Row", (Row,), {"names": names})


def rows_of(cursor: "psycopg.Cursor[Any]") -> Callable[[Sequence[Any]], Row]:
    """How a cursor's rows are made: what psycopg calls a row factory."""
    return _row(*(column.name for column in cursor.description or ()))


class Number(Loader):
    """A sum of whole numbers is a whole number."""

    def load(self, data: Buffer) -> int | float:
        """The number."""
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)
