"""The generated settings table of a plugin's README."""

import json
from typing import Any

import attrs

__all__ = ["BEGIN", "END", "current_block", "settings_block", "with_block"]

BEGIN = "<!-- settings: generated, do not edit -->"
END = "<!-- end of settings -->"


def current_block(readme: str) -> str | None:
    """What stands between the markers; None when there are none."""
    _, begin, rest = readme.partition(BEGIN)
    block, end, _ = rest.partition(END)
    return block if begin and end else None


def with_block(readme: str, block: str) -> str:
    """The README with the block between its markers. Raises ValueError when it has none."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"The README has no markers; add the lines {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{block.strip()}\n{END}{after}"


def settings_block(cls: Any, section: str = "") -> str:
    """What belongs between the markers for a config class and its section: a Markdown table of its settings."""
    from hermes_shapes.describe import settings_rows

    lines = ["| Setting | Type | Default | Meaning |", "|---|---|---|---|"]
    for row in settings_rows(cls, section, named=True):
        cells = (f"`{row.key}`", row.type, _cell(row.default), row.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _cell(default: Any) -> str:
    if default is attrs.NOTHING:
        return "required"
    plain = isinstance(default, str) and default
    return "" if default is None else f"`{default if plain else json.dumps(default)}`"
