"""The registries of package managers, from ``registries.toml``."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from hermes_backend_wall.proxy.rules import Rule
from hermes_core.errors import UnknownName

__all__ = ["names", "registries", "uploads"]


@cache
def _tables() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(files(__package__).joinpath("registries.toml").read_text("utf-8"))


def names() -> list[str]:
    """The registries that are known."""
    return list(_tables())


def registries(*chosen: str) -> list[Rule]:
    """The rules of some registries, or of all. Raises UnknownName.

    These names are ours, not a command's, so the person's network may lead them to a mirror within it.
    """
    tables = _tables()
    for name in chosen:
        if name not in tables:
            raise UnknownName("registry", name, tables)
    return [rule for name in chosen or tables for rule in _rules(name)]


@cache
def _rules(name: str) -> Sequence[Rule]:
    return tuple(Rule.read(host, private=True, source=name) for host in _tables()[name]["hosts"])


def uploads() -> list[str]:
    """The hosts among them that take packages of whoever has a key there: something can be sent to them."""
    return [host for table in _tables().values() for host in table.get("uploads", ())]
