"""A platform that can be shown by a process which knows nothing but a host: that draws first, and asks later.

A host has such a platform, too, with all that its plugin may use. What a screen elsewhere shows first is said by that
one; what is wanted later is asked of it, over the connection to the host, or of a kernel that the screen opens then.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from hermes_core.kinds import Platform

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.types import Principal

__all__ = ["Fronted", "Ways"]


class Ways(NamedTuple):
    """What a platform of a screen is made with. ``shown`` is what the host's says first, ``owner`` whose Hermes it is.

    ``ask`` asks the host's platform, with a name and JSON, and raises HermesError. ``open`` opens a kernel in this
    process and gives its context for the plugin; the first call takes as long as a start without a host.
    """

    shown: Mapping[str, Any]
    owner: "Principal"
    ask: Callable[[str, Mapping[str, Any]], Awaitable[Any]]
    open: Callable[[], Awaitable["PluginContext"]]


class Fronted(Platform):
    """A platform of which a screen elsewhere can be made.

    ``front`` names the function that makes it of Ways, as ``module:function``; the module is imported before the first
    frame, by a process that has loaded no plugin.
    """

    front: ClassVar[str]

    @abstractmethod
    def shown(self) -> Mapping[str, Any]:
        """Return what a first frame needs, as JSON: settings, folders. No secret is among it."""

    async def asked(self, what: str, given: Mapping[str, Any]) -> Any:
        """Answer a screen elsewhere, as JSON. Raises HermesError."""
        from hermes_core.errors import UserError

        raise UserError(f"Nobody here knows of {what!r}.")
