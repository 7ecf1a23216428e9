"""The connections that a session uses, from its first call to its rest."""

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import Feature, Session
from hermes_tool_mcp.connection import Connection
from hermes_tool_mcp.known import closed_to, settings_of
from hermes_tool_mcp.pool import pool_of

__all__ = ["RESOURCE", "Held", "Holding"]

RESOURCE = "mcp"


class Held:
    """What one session holds. ``folder`` is where it works, empty where that is not on this machine."""

    def __init__(self, ctx: PluginContext, session: Session, folder: str) -> None:
        self._ctx, self.session, self._folder = ctx, session, folder

    def connection(self, name: str) -> Connection:
        """Return the connection to a server, which is connected when it is used. Raises ToolError."""
        server = settings_of(self._ctx, name, self.session.id)
        if server is None or closed_to(self._ctx, server, self.session):
            raise ToolError(f"There is no MCP server {name} here.", retry=False)
        return pool_of(self._ctx).hold(self.session.id, name, server, self.session.owner, self._folder)

    @property
    def there(self) -> list[str]:
        """The servers that are connected."""
        return sorted(n for n, one in pool_of(self._ctx).held_by(self.session.id).items() if one.alive)

    @property
    def busy(self) -> bool:
        """Whether a call runs."""
        return any(one.calls for one in pool_of(self._ctx).held_by(self.session.id).values())


class Holding(Resource):
    """Opens and closes them."""

    name = RESOURCE
    idle = 900.0

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def open(self, session: Session, workspace: Workspace) -> Held:
        """Begin to hold; nothing is connected yet."""
        return Held(self._ctx, session, workspace.cwd if Feature.LOCAL in workspace.features else "")

    async def close(self, thing: Held) -> None:
        """Let go of all of them; those that nobody else holds are ended."""
        await pool_of(self._ctx).release(thing.session.id)

    def busy(self, thing: Held) -> bool:
        """Whether a call runs."""
        return thing.busy

    def describe(self, thing: Held) -> str:
        """Which servers are connected."""
        return f"MCP: {', '.join(thing.there) or 'no server is connected'}"
