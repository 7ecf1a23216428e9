"""Who is blocked, for whoever asks: the rows of blocks alone decide it, for chats and for all other doors."""

from collections.abc import Collection

from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["Blocks"]


class Blocks(Service):
    """Says who is blocked. It has nothing to do by itself, and is no reason to begin a gateway."""

    name = "people"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def run(self) -> None:
        """Nothing: it is asked."""

    async def blocked(self, people: Collection[str]) -> Collection[str]:
        """Return which of these persons, accounts or groups are blocked now; the owner never is.

        Who says what people may do asks it of services that ``roles.blocks`` names. A mute closes chats only.
        """
        return await rows_of(self._ctx).restrictions.blocked(*(one for one in people if one and one != OWNER))
