"""Everything that is wrong with a section of the settings; imported only when something is."""

from collections.abc import Sequence
from typing import Any

from hermes_core.config.schema import KERNEL_KEYS, OPEN, PLUGIN_SPACES, Config, EndpointSettings
from hermes_shapes import check as shapes
from hermes_shapes.build import Keys, Problem

__all__ = ["check"]


def check(cls: Any, data: Any, keys: Keys) -> tuple[Any, list[Problem]]:
    """Return the object, or None and every problem, each under ``keys``."""
    return shapes.check(cls, data, keys, elsewhere=_elsewhere)


def _elsewhere(cls: type, keys: Keys) -> tuple[Sequence[str], str]:
    """Return the names that may stand in a section beside those of its class, and who has more of them."""
    if cls is Config:
        return PLUGIN_SPACES, ", and what installed plugins have"
    space = str(keys[0]) if keys else ""
    whole = cls is not EndpointSettings and len(keys) == (1 if space in OPEN else 2)
    return KERNEL_KEYS.get(space, ()) if whole else (), ""
