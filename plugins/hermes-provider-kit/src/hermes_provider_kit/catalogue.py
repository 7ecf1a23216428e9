"""Services that are rows: a TOML file each, read when it is first used and held against a class."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from hermes_core.types import JSON
from hermes_shapes.build import Refused, build

__all__ = ["made_of", "read_row"]

Row = TypeVar("Row")


def read_row(folder: Path, name: str) -> Mapping[str, JSON]:
    """Read a service's file. Raises OSError, ValueError."""
    import tomllib

    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))


def made_of(data: Mapping[str, JSON], cls: type[Row], *, where: str) -> Row:
    """Make a service of what its file says.

    Args:
        data: What the file says.
        cls: A class of attrs, whose fields are of text, numbers, yes or no, ``Literal``, and tuples, mappings and
            classes of these; their validators are heard.
        where: The name of the file.

    Raises:
        ValueError: It is not as the class wants it; every problem is named.
    """
    try:
        return build(cls, dict(data))  # type: ignore[no-any-return]
    except (Refused, ValueError, TypeError):
        from hermes_shapes.check import check

        made, problems = check(cls, dict(data))
        if problems:
            told = "; ".join(f"{one.path} {one.text}" for one in problems)
            raise ValueError(f"{where}: {told}") from None
        return made  # type: ignore[no-any-return]
