"""The shell of a session."""

from pathlib import Path

from hermes_core.errors import ToolError
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import ExecRequest, Feature, Session
from hermes_core.values import define
from hermes_tool_terminal.left import forget_old


@define(eq=False)
class Shell:
    """Which shell runs the commands of a session, and where."""

    program: str
    workspace: Workspace


class Shells(Resource):
    """Finds out which shell a place has, once for each session.

    No process is kept running: where folder and variables last, the workspace carries them on.
    """

    name = "shell"
    idle = 3600.0

    def __init__(self, data: Path) -> None:
        self._data = data

    async def open(self, session: Session, workspace: Workspace) -> Shell:
        """``bash`` where there is one, else ``sh``. Raises ToolError when the place cannot be reached."""
        forget_old(self._data)
        if Feature.PERSISTENT_SHELL in workspace.features:
            return Shell("bash", workspace)
        probe = await workspace.run(ExecRequest(argv=("sh", "-c", "command -v bash"), seconds=30.0))
        if probe.status == 124:
            raise ToolError("The place where commands run did not answer within 30 s.", hint="Try again.")
        return Shell("sh" if probe.status else "bash", workspace)

    async def close(self, thing: Shell) -> None:
        """Forget it; no process is kept."""

    def describe(self, thing: Shell) -> str:
        """The shell and the folder that its next command starts in."""
        return f"{thing.program} in {thing.workspace.shell_cwd}"
