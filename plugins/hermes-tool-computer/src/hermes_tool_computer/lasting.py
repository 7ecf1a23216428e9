"""The screen of each session, from the first look to its rest."""

from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import Session
from hermes_tool_computer.config import Config
from hermes_tool_computer.looked import Looked

__all__ = ["NAME", "Screens"]

NAME = "computer"


class Screens(Resource):
    """Opens and closes them."""

    name = NAME

    def __init__(self, ctx: PluginContext) -> None:
        self._config: Config = ctx.config or Config()
        self.idle = float(self._config.idle)

    async def open(self, session: Session, workspace: Workspace) -> Looked:
        """Open one. Raises ToolError."""
        if self._config.display == "own":
            from hermes_tool_computer.own import OwnScreen

            return Looked(await OwnScreen.opened(workspace, self._config), self._config.largest)
        from hermes_tool_computer.person import person_screen

        return Looked(person_screen(), self._config.largest)

    async def close(self, thing: Looked) -> None:
        """Let go of it."""
        await thing.screen.close()

    def alive(self, thing: Looked) -> bool:
        """Whether it is there."""
        return thing.screen.alive

    def describe(self, thing: Looked) -> str:
        """Whose it is."""
        return thing.screen.words
