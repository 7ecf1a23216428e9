"""Whether a statement of SQLAlchemy Core stays within some tables. What is not known to be harmless is refused.

It is help against mistakes, not a wall: a plugin runs with the rights of its person.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import dml as postgresql_dml
from sqlalchemy.dialects.sqlite import dml as sqlite_dml
from sqlalchemy.sql import elements, operators, selectable
from sqlalchemy.sql.functions import FunctionElement

_STATEMENTS = (sa.Select, sa.CompoundSelect, sa.Insert, sa.Update, sa.Delete, postgresql.Insert, sqlite.Insert)
_PARTS = (
    sa.Table, sa.Column, sa.BinaryExpression, sa.UnaryExpression, sa.BindParameter, sa.Case, sa.Null, sa.False_,
    sa.True_, sa.Label, sa.Alias, sa.CTE, sa.Subquery, sa.ScalarSelect, sa.Exists, sa.Join, elements.ColumnClause,
    elements.BooleanClauseList, elements.ClauseList, elements.ExpressionClauseList, elements.Grouping, elements.Tuple,
    elements.AsBoolean, selectable.ForUpdateArg, selectable._OffsetLimitParam, selectable.SelectStatementGrouping,
    postgresql_dml.OnConflictDoUpdate, postgresql_dml.OnConflictDoNothing, sqlite_dml.OnConflictDoUpdate,
    sqlite_dml.OnConflictDoNothing, elements._label_reference, elements._textual_label_reference,
)  # fmt: skip
_FUNCTIONS = {
    "abs", "avg", "coalesce", "count", "length", "lower", "ltrim", "max", "min", "nullif", "replace", "round", "rtrim",
    "substr", "sum", "trim", "upper",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RAW = ("_prefixes", "_suffixes", "_hints", "_statement_hints", "_dialect_kwargs")


def refusal(statement: object, prefix: str, reserved: str) -> str:
    """Why a statement may not run; empty when it touches tables with a prefix alone, and not the reserved one."""
    if not isinstance(statement, _STATEMENTS):
        return f"{_called(statement)} is none of select, insert, update and delete"
    seen: set[int] = set()
    left: list[Any] = [statement]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if why := _judged(one, prefix, reserved):
            return why
        if not isinstance(one, sa.Table):
            left += _inside(one)
    return ""


def _judged(one: Any, prefix: str, reserved: str) -> str:
    kind = _kind(one)
    name = getattr(one, "name", None)
    if isinstance(one, sa.Table):
        known = one.schema is None and _NAME.fullmatch(one.name) and one.name.startswith(prefix)
        return "" if known and one.name != reserved else f"the table {one.fullname!r} is not the plugin's own"
    if isinstance(one, FunctionElement):
        harmless = type(one).__module__ == "sqlalchemy.sql.functions" and name in _FUNCTIONS
        return "" if harmless and not getattr(one, "packagenames", ()) else f"the function {name!r} is not known here"
    if kind not in _STATEMENTS + _PARTS:
        return f"{_called(one)} cannot be looked into"
    if isinstance(name, sa.sql.quoted_name) and name.quote is False:
        return f"the name {str(name)!r} would be written as it is"
    if getattr(one, "is_literal", False) and name != "*":
        return "raw text cannot be looked into"
    if getattr(one, "literal_execute", False):
        return "a value may not be written into the statement"
    doing = (getattr(one, what, None) for what in ("operator", "modifier", "negate"))
    if any(isinstance(what, operators.custom_op) for what in doing):
        return "an operator of one's own cannot be looked into"
    if any(getattr(one, raw, None) for raw in _RAW):
        return "hints and prefixes are raw text"
    return ""


def _inside(one: Any) -> Iterator[Any]:
    """What an element is made of; also where SQLAlchemy's own walk does not go, as in rows to insert."""
    if isinstance(one, sa.Column) and isinstance(one.table, sa.Table):
        yield one.table
        return
    for value in vars(one).values():
        yield from _elements(value)
    yield from one.get_children()


def _elements(value: Any) -> Iterable[Any]:
    if isinstance(value, elements.ClauseElement):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _elements(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _elements(item)


def _kind(one: Any) -> type:
    """The class of an element; of one that carries a remark, the class it had before."""
    kind = type(one)
    return kind.__mro__[2] if kind.__name__.startswith("Annotated") and len(kind.__mro__) > 2 else kind


def _called(one: object) -> str:
    return type(one).__name__.strip("_")
