"""Where the commands of a session run: the backend that its owner's settings name."""

from hermes_core.agent.policy.guests import Guests
from hermes_core.config.files import explain
from hermes_core.config.settings import Settings
from hermes_core.environment import hide_memory
from hermes_core.errors import UnknownName
from hermes_core.kinds import Backend, Workspace
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.loader import Loader
from hermes_core.types import Feature, Principal, Session, Wall

__all__ = ["Workspaces"]


class Workspaces:
    """Opens workspaces on the backends of plugins."""

    def __init__(self, settings: Settings, guests: Guests, loader: Loader, dispatch: Dispatch) -> None:
        self._settings, self._guests, self._loader, self._dispatch = settings, guests, loader, dispatch

    def backend(self, owner: Principal) -> str:
        """The name of the backend that somebody's commands run on."""
        config = self._settings.config
        return (self._guests.is_guest(owner) and config.gateway.backend) or config.terminal.backend

    def is_here(self, owner: Principal) -> bool:
        """Whether somebody's tools see the files of this machine, under the same paths."""
        found = self._backends(self.backend(owner)).get(self.backend(owner))
        return found is not None and Feature.LOCAL in found.features

    def wall(self, owner: Principal) -> Wall | None:
        """What will bound somebody's commands, as far as that is known before a workspace is open."""
        found = self._backends(self.backend(owner)).get(self.backend(owner))
        return found.wall if found else None

    async def open(self, session: Session) -> Workspace:
        """The place where this session's commands run. Raises UserError when there is none."""
        hide_memory()  # from here on something runs that a model chose
        name = self.backend(session.owner)
        if self._guests.is_guest(session.owner):
            try:
                self._guests.folder(session.owner).mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise explain(error, "make", self._guests.folder(session.owner)) from error
        found = self._backends(name)
        if name not in found:
            raise UnknownName(
                "backend", name, found, hint=f"pip install hermes-backend-{name}, or set terminal.backend."
            )
        return await found[name].open(session.cwd)

    def _backends(self, name: str) -> dict[str, Backend]:
        self._loader.load_contributing("backends", [name])
        return {b.name: b for _, b in self._dispatch.contributions("register_backends")}
