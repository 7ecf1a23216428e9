"""What surrounds a screen in a process that knows a host alone: what it shows is asked of the platform there.

It is imported before the first frame; what is asked, after it.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.types import Principal
    from hermes_platform_kit.front import Ways
    from hermes_platform_tui.distant_sessions import DistantSessions

__all__ = ["Around", "Distant"]


class Paths(NamedTuple):
    """The folders that a screen reads."""

    home: Path
    data: Path


class Distant:
    """What a screen has of Hermes before a kernel is opened for it; ``services`` are the names that plugins offer."""

    def __init__(self, ways: "Ways") -> None:
        self.open, self.ask, self._owner = ways.open, ways.ask, ways.owner
        self.paths = Paths(Path(ways.shown["home"]), Path(ways.shown["data"]))
        self.services: Sequence[str] = ways.shown["services"]

    @cached_property
    def owner(self) -> "Principal":
        """Whose Hermes it is."""
        from hermes_core.types import Principal

        return Principal(**self._owner)

    @cached_property
    def sessions(self) -> "DistantSessions":
        """Past conversations."""
        from hermes_platform_tui.distant_sessions import DistantSessions

        return DistantSessions(self.ask, self.open)

    async def screens_of(self, service: str) -> Sequence[str]:
        """Return the names of the screens that a service has. Raises HermesError."""
        found: Sequence[str] = await self.ask("screens", {"service": service})
        return found


Around: TypeAlias = "PluginContext | Distant"
"""What surrounds a screen: all that a plugin gets, or what is known of it elsewhere."""
