"""A screen in a process that knows nothing but a host: it draws first, and what it shows later is asked of the host.

Nothing is imported here that a first frame can do without.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.kinds import Platform

__all__ = ["Front", "Ways"]


class Ways(NamedTuple):
    """What a screen is made with. ``shown`` is what the host's platform says first, ``owner`` whose Hermes it is.

    ``ask`` asks that platform, with a name and JSON, and raises HermesError. ``open`` opens a kernel in this process
    and gives its context for the plugin; the first call takes as long as a start without a host.
    """

    shown: Mapping[str, Any]
    owner: Mapping[str, str]
    ask: Callable[[str, Mapping[str, Any]], Awaitable[Any]]
    open: Callable[[], Awaitable["PluginContext"]]


class Front(ABC):
    """What stands at a terminal before the platform does."""

    @abstractmethod
    def unfit(self) -> str:
        """Say why this terminal is none for it; empty for one that is."""

    async def draw(self, facts: Mapping[str, str]) -> None:
        """Draw a first frame of a conversation of which the host told ``facts``; what is typed from now on is kept."""
        return

    @abstractmethod
    def platform(self) -> "Platform":
        """Return the platform that stands there now; whoever carries it opens it."""
