"""Services that are rows: a TOML file each, read when it is first used and checked against the fields of a class."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from attrs import fields

from hermes_core.types import JSON

__all__ = ["problems_of", "read_row", "tuples"]


def read_row(folder: Path, name: str) -> Mapping[str, JSON]:
    """Read a service's file. Raises OSError, ValueError."""
    import tomllib

    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))


def problems_of(
    cls: Any,
    data: Mapping[str, JSON],
    needed: Collection[str],
    words: Mapping[str, Collection[str]] = {},
) -> list[str]:
    """Hold what a file says against the fields of a class.

    Args:
        cls: A class of attrs, whose fields are text, numbers, yes or no, tuples of text or numbers, or mappings.
        data: What the file says.
        needed: The fields that must be there and not empty.
        words: The words that a field may hold.

    Returns:
        A sentence for each problem; none where it is as it should be.
    """
    kinds = {field.name: field.type for field in fields(cls)}
    found = [f"unknown key {key}" for key in data if key not in kinds]
    found += [f"{key} is missing" for key in needed if not data.get(key)]
    found += [f"{k} is not {kinds[k]}" for k, v in data.items() if k in kinds and not _fits(kinds[k], v)]
    told = {k: w for k, w in words.items() if k in data and k in kinds}
    return found + [f"{k} is none of {', '.join(w)}" for k, w in told.items() if data[k] not in w]


def tuples(data: Mapping[str, JSON]) -> dict[str, JSON]:
    """Make tuples of lists, as the classes want them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}


def _fits(kind: object, value: JSON) -> bool:
    if kind is bool or kind is str:
        return isinstance(value, kind)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return number and isinstance(value, int)
    if kind == str | float:
        return number or isinstance(value, str)
    if kind == tuple[str, ...]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == tuple[float, ...]:
        return isinstance(value, list) and all(isinstance(item, int | float) and item >= 0 for item in value)
    return isinstance(value, dict)
