"""A row of what doctor finds: how bad it is, whose it is, what it is and what mends it."""

from hermes_core.plugins.index import Installed
from hermes_core.types import Finding

__all__ = ["Row", "found", "row", "who"]

Row = dict[str, str]


def row(level: str, who: str, text: str, fix: str = "", phase: str = "") -> Row:
    """Make a row; ``phase`` is what a plugin was at when it failed."""
    return {"level": level, "who": who, "phase": phase, "text": text, "fix": fix}


def found(label: str, finding: Finding) -> Row:
    """Make a row of what the check of a plugin found."""
    return row("asks" if finding.level == "warning" else finding.level, label, finding.text, finding.fix)


def who(one: Installed) -> str:
    """Name a plugin with its version."""
    return f"{one.label} {one.version}".strip()
