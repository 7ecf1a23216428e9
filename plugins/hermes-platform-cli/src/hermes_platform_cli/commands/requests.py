"""What was asked to be installed, and what came of it, as plugins.lock keeps it."""

from typing import NamedTuple

from hermes_core.control import PluginsBroker

__all__ = ["Package", "note", "wanted"]


class Package(NamedTuple):
    """A distribution that was asked for: in which words, and what came. ``digest`` is of its files."""

    distribution: str
    requirement: str
    only_binary: bool = True
    version: str = ""
    digest: str = ""


def wanted(plugins: PluginsBroker) -> list[Package]:
    """What was asked for, by distribution. What another version of Hermes noted besides is passed over."""
    rows = plugins.wanted()
    known = {name: {key: row[key] for key in Package._fields if key in row} for name, row in rows.items()}
    return [Package(**{"distribution": name, "requirement": name, **row}) for name, row in known.items()]


def note(plugins: PluginsBroker, package: Package) -> None:
    """Write it down; it is not enabled by that. Raises UserError."""
    row = package._asdict()
    plugins.note(row.pop("distribution"), row)
