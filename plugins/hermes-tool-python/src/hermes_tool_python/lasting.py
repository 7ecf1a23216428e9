"""The interpreter of a session whose variables stay from one script to the next."""

from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import Session
from hermes_tool_python.config import Config
from hermes_tool_python.script import Interpreter

__all__ = ["Interpreters"]


class Interpreters(Resource):
    """Opens them: in the place where commands run, or, where the small Python is set, that one."""

    name = "interpreter"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config = ctx, ctx.config or Config()
        self.idle = float(self._config.idle)

    async def open(self, session: Session, workspace: Workspace) -> Interpreter:
        """Start one. Raises ToolError."""
        if self._config.mode == "fast":
            from hermes_tool_python.fast import Fast

            python: Interpreter = Fast(self._ctx.paths.data, self._config)
        else:
            from hermes_tool_python.process import Python

            python = Python(workspace, self._config)
        await python.start()
        return python

    async def close(self, thing: Interpreter) -> None:
        """End it and all it started."""
        await thing.close()

    def alive(self, thing: Interpreter) -> bool:
        """Whether its process is there."""
        return thing.alive

    def describe(self, thing: Interpreter) -> str:
        """How much it was used."""
        return f"Python with its variables, {thing.scripts} script{'' if thing.scripts == 1 else 's'}"
