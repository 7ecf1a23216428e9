"""Declaring options: a plugin's settings and a tool's arguments are the same kind of class.

@settings
class Config:
    '''Telegram.'''
    poll_seconds: float = option("How long one long poll waits.", default=25.0, validator=gt(0))
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import attrs
from attrs import NOTHING, Factory
from attrs.validators import ge, gt, in_, le, lt, matches_re, max_len, min_len

from hermes_core.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Secret", "ge", "gt", "in_", "le", "listed", "lt", "matches_re", "max_len", "min_len", "option", "settings"]

_C = TypeVar("_C", bound=type)


class Secret(str):
    """A secret, or a reference to one: ``env:NAME``. Never printed, logged or put into a tool's environment."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret('…')"

    @property
    def reference(self) -> str:
        """The name after ``env:``, or an empty string when this is the secret itself."""
        return self[4:] if self.startswith("env:") else ""


def option(
    help: str,  # noqa: A002 - the word authors expect
    *,
    default: Any = NOTHING,
    factory: Callable[[], Any] | None = None,
    validator: Any = None,
    example: Any = None,
    ids: bool = False,
) -> Any:
    """Describe one setting or argument. ``help`` is one sentence; ``example`` is shown in generated docs.

    ``ids`` makes a list, or lists by name, take what ids of chat services are: numbers too, and one that stands alone.
    Without ``default`` or ``factory`` the option must be given.
    """
    metadata: Mapping[str, Any] = {"help": help, "example": example, "ids": ids}
    if factory is not None:
        default = Factory(factory)
    return attrs.field(default=default, validator=validator, metadata=dict(metadata))


def listed(entries: Iterable[str]) -> Iterator[str]:
    """Yield the names in a list; an entry from the environment may hold several, with commas between."""
    for entry in entries:
        yield from filter(None, (name.strip() for name in entry.split(",")))


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option, attrs.field))
def settings(cls: _C) -> _C:
    """Make a class of options: frozen, keyword only."""
    return frozen(cls, kw_only=True)
