"""What a function gave back, as text that a model reads: text as it is, values as JSON, tables as tables.

Nothing is shown by its ``repr``: what has no other form is refused, so that no model reads of an object at an address.
"""

import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin
from uuid import UUID

import attrs

__all__ = ["shows", "text_of"]

JSON: TypeAlias = Any

ROWS = 50  # of a table that are shown
CELL = 200  # characters of one cell
_PLAIN = (str, int, float, bool, NoneType)
_AS_TEXT = (date, time, PurePath, UUID, Decimal)
_HOLDERS = (list, tuple, set, frozenset, dict, Mapping, AbstractSet)
_TABLES = ("pandas", "polars", "pyarrow")


def text_of(value: Any) -> str:
    """Give a value as text. Raises TypeError for what has no form that a model could read."""
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return value
    if value is None:
        return "done"
    if _is_table(type(value)):
        return _table(value)
    return json.dumps(_plain(value, ()), ensure_ascii=False)


def shows(kind: Any) -> bool:
    """Tell whether values of a type can be shown, as far as the type says."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return all(map(shows, inner))
    if not isinstance(origin, type) or origin in (Any, object):
        return True  # what it is comes out when it is given
    known = (*_PLAIN, *_AS_TEXT, *_HOLDERS, enum.Enum, timedelta)
    return issubclass(origin, known) or _is_record(origin) or _is_table(origin) or hasattr(origin, "__iter__")


def _plain(value: Any, above: tuple[int, ...]) -> JSON:
    if id(value) in above:
        raise TypeError("a value holds itself")
    inner = (*above, id(value))
    if isinstance(value, enum.Enum):
        return _plain(value.value, inner)
    if isinstance(value, (*_PLAIN, *_AS_TEXT, timedelta)):
        return _simple(value)
    if isinstance(value, Mapping):
        return {_key(name): _plain(one, inner) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, inner) for one in value]
    if isinstance(value, AbstractSet):
        return sorted((_plain(one, inner) for one in value), key=str)
    if not isinstance(value, type) and _is_record(type(value)):
        return _record(value, inner)
    raise TypeError(f"a {type(value).__name__} has no form that a model could read; give text, numbers or a dict")


def _simple(value: Any) -> JSON:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)  # JSON has no word for these
    return value if isinstance(value, _PLAIN) else str(value)


def _record(value: Any, above: tuple[int, ...]) -> JSON:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if attrs.has(type(value)):
        names = [one.name for one in attrs.fields(type(value))]
    else:
        names = [one.name for one in dataclasses.fields(value)]
    return {name: _plain(getattr(value, name), above) for name in names}


def _key(name: Any) -> str:
    if isinstance(name, enum.Enum):
        name = name.value
    if isinstance(name, date | time):
        return name.isoformat()
    if isinstance(name, (*_PLAIN, *_AS_TEXT)):
        return str(name)
    raise TypeError(f"a key of a mapping is a {type(name).__name__}; take text")


def _is_record(kind: type) -> bool:
    return attrs.has(kind) or dataclasses.is_dataclass(kind) or hasattr(kind, "model_dump")


def _is_table(kind: type) -> bool:
    """Tell by its name, as none of these is imported here."""
    return kind.__module__.partition(".")[0] in _TABLES and kind.__name__ in ("DataFrame", "Table", "LazyFrame")


def _table(value: Any) -> str:
    """Give the first rows as a table in Markdown, with a word on the others."""
    if type(value).__name__ == "LazyFrame":
        value = value.collect()
    package = type(value).__module__.partition(".")[0]
    if package == "pandas":
        names, count = [str(one) for one in value.columns], len(value)
        rows = list(value.head(ROWS).itertuples(index=False, name=None))
    elif package == "polars":
        names, count, rows = list(value.columns), value.height, value.head(ROWS).rows()
    else:
        names, count = list(value.column_names), value.num_rows
        columns = value.slice(0, ROWS).to_pydict()
        rows = list(zip(*(columns[name] for name in names), strict=True))
    lines = [names, ["---"] * len(names), *([_cell(one) for one in row] for row in rows)]
    shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return shown + (f"\n\n({count} rows; the first {ROWS} are shown)" if count > ROWS else "")


def _cell(value: Any) -> str:
    try:
        plain = _plain(value, ())
    except TypeError:
        plain = str(value)
    text = "" if plain is None else plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= CELL else f"{text[:CELL]}…"
