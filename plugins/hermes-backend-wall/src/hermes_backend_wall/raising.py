"""How a wall is put up: the one that is tried first, and the other where that cannot be."""

from collections.abc import Callable

from hermes_backend_wall import landlock
from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.landlock import Landlock
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.namespaces import Namespaces
from hermes_backend_wall.plan import INSTALL, Kind
from hermes_backend_wall.sandbox import OnConnection, Sandbox
from hermes_core.environment import hide_memory
from hermes_core.errors import HermesError, ToolError

__all__ = ["raised"]


async def raised(
    kind: Kind, name: str, bounds: Callable[[str], Bounds], limits: Limits, on_connection: OnConnection | None
) -> tuple[Sandbox, str]:
    """Start a sandbox behind the wall ``name``; the sandbox, and the wall it became. Raises ToolError.

    Where a person chose no ``kind`` (``auto``), Landlock stands in for bubblewrap that does not work after all.
    ``bounds`` gives what a wall of that name is to keep to.
    """
    if name == "landlock" and not landlock.version():
        raise ToolError("This system has no Landlock, so the wall cannot be made.", hint=INSTALL, retry=False)
    hide_memory()  # what Hermes holds in memory and environment is closed to what it starts
    while True:
        recipe: type[Namespaces | Landlock] = Namespaces if name == "bubblewrap" else Landlock
        try:
            sandbox = Sandbox(recipe(bounds(name), limits), on_connection)
            await sandbox.start()
        except HermesError as error:
            # What is likely may not be so; what a person chose must be.
            if kind != "auto" or name != "bubblewrap" or not landlock.version():
                raise ToolError(error.text, hint=error.hint, retry=False) from error
            name = "landlock"
        else:
            return sandbox, name
