"""A distribution as it was asked for."""

from typing import NamedTuple

__all__ = ["Package"]


class Package(NamedTuple):
    """A distribution that was asked for: in which words, and what came. ``digest`` is of its files."""

    distribution: str
    requirement: str
    only_binary: bool
    version: str = ""
    digest: str = ""
