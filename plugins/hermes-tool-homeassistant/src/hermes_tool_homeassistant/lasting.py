"""The connection of each session, from its first call to its rest."""

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import Session
from hermes_tool_homeassistant.client import TOKEN, Client, WrongToken
from hermes_tool_homeassistant.config import Config

__all__ = ["NAME", "Connections", "client_of"]

NAME = "homeassistant"


def client_of(ctx: PluginContext) -> Client:
    """One that is not open yet."""
    config: Config = ctx.config or Config()
    return Client(config.url, ctx.secrets.get(TOKEN), config.seconds)


class Connections(Resource):
    """Opens and closes them."""

    name = NAME

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def open(self, session: Session, workspace: Workspace) -> Client:
        """Connect. Raises ToolError."""
        client = client_of(self._ctx)
        try:
            await client.open()
        except WrongToken as error:
            raise ToolError(error.text, hint=error.hint, retry=False) from error
        return client

    async def close(self, thing: Client) -> None:
        """Let go of it."""
        await thing.close()

    def alive(self, thing: Client) -> bool:
        """Whether it can be asked."""
        return thing.alive

    def describe(self, thing: Client) -> str:
        """Whom it is to."""
        return f"Home Assistant {thing.version}"
