"""Where the commands of a session run: the backend that its owner's settings name."""

import os

from hermes_core.agent.policy.guests import Guests
from hermes_core.config.files import explain
from hermes_core.config.settings import Settings
from hermes_core.environment import MARK, hide_memory
from hermes_core.errors import PluginError, UnknownName
from hermes_core.kinds import Backend, Workspace
from hermes_core.own import OWN
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.loader import Loader
from hermes_core.types import ExecRequest, Feature, Principal, Session, Wall

__all__ = ["Workspaces"]


_PLANTED = f"{MARK}_KEY"  # in this process for the length of one command, which must not see it


class Workspaces:
    """Opens workspaces on the backends of plugins."""

    def __init__(self, settings: Settings, guests: Guests, loader: Loader, dispatch: Dispatch) -> None:
        self._settings, self._guests, self._loader, self._dispatch = settings, guests, loader, dispatch
        self._wrong: dict[str, str] = {}  # what is wrong with the commands of each plugin that was tried

    def backend(self, owner: Principal) -> str:
        """Return the name of the backend that somebody's commands run on."""
        config = self._settings.config
        return self._guests.rights(owner).backend or config.terminal.backend

    def is_here(self, owner: Principal) -> bool:
        """Tell whether somebody's tools see the files of this machine, under the same paths."""
        found = self._backends(self.backend(owner)).get(self.backend(owner))
        return found is not None and Feature.LOCAL in found.features

    def wall(self, owner: Principal) -> Wall | None:
        """Return what will bound somebody's commands, as far as that is known before a workspace is open."""
        found = self._backends(self.backend(owner)).get(self.backend(owner))
        return found.wall if found else None

    async def open(self, session: Session, before: Workspace | None = None) -> Workspace:
        """Open the place where this session's commands run. Raises UserError when there is none, and PluginError.

        The one from ``before`` stays, unless its commands are to reach other further folders by now: with what runs in
        it it is closed where they reach one too many, and else once nothing runs there.
        """
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
        takes = Feature.FOLDERS in found[name].features
        also = await self._guests.further(session) if takes else ()
        if before is not None and (before.also == also or (before.busy and not {*before.also} - {*also})):
            return before
        if before is not None:
            await before.close()
        place = await (found[name].open(session.cwd, also) if also else found[name].open(session.cwd))
        label = next(by for by, backend in self._dispatch.contributions("register_backends") if backend.name == name)
        if label not in self._wrong:
            self._wrong[label] = await self._tried(label, place)
        if wrong := self._wrong[label]:
            await place.close()
            raise PluginError(label, wrong, hint="Its commands are not run. Tell its author.")
        return place

    async def _tried(self, label: str, place: Workspace) -> str:
        """Say what a first command finds wrong with its environment, as its plugin's fault; empty where nothing."""
        if f"hermes-{label.replace('/', '-')}" in OWN:
            return ""  # their tests say so
        request = ExecRequest(argv=("sh", "-c", f'printf "%s %s" "${MARK}" "${_PLANTED}"'), seconds=10.0)
        os.environ[_PLANTED] = planted = os.urandom(8).hex()
        try:
            done = await self._dispatch.shielded(label, "run", lambda: place.run(request), 15.0)
        finally:
            os.environ.pop(_PLANTED, None)
        said = done.output.decode(errors="replace") if done and not done.status else request.env[MARK]
        wrong = "" if request.env[MARK] in said else f"its commands lack {MARK}: it does not pass request.env on"
        if planted in said:
            wrong = "its commands see the secrets of this process: it passes os.environ on"
        if wrong:
            self._dispatch.failed(label, "run", PluginError(label, wrong))
        return wrong

    def _backends(self, name: str) -> dict[str, Backend]:
        self._loader.load_contributing("backends", [name])
        return {b.name: b for _, b in self._dispatch.contributions("register_backends")}
