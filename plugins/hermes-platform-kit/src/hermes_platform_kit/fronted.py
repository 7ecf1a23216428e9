"""A platform of a host of which a screen elsewhere is made: see ``hermes_platform_kit.front``."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.errors import UserError
from hermes_core.kinds import Platform

__all__ = ["Fronted"]


class Fronted(Platform):
    """A platform of which a screen elsewhere can be made, with all here that its plugin may use.

    ``front`` names the function that makes a Front of Ways, as ``module:function``; the module is imported before a
    first frame, by a process that has loaded no plugin.
    """

    front: ClassVar[str]

    @abstractmethod
    def shown(self) -> Mapping[str, Any]:
        """Return what a first frame needs, as JSON: settings, folders. No secret is among it."""

    async def asked(self, what: str, given: Mapping[str, Any]) -> Any:
        """Answer a screen elsewhere, as JSON. Raises HermesError."""
        raise UserError(f"Nobody here knows of {what!r}.")
