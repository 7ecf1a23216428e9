"""The backend ``bubblewrap``."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hermes_backend_bubblewrap.config import Config
from hermes_backend_bubblewrap.recipe import Strict, wall_of
from hermes_backend_bubblewrap.view import listed
from hermes_backend_bubblewrap.workspace import Inside
from hermes_backend_kit.places import folder_here
from hermes_backend_wall import bwrap
from hermes_backend_wall.plan import base_of, records_of
from hermes_backend_wall.sandbox import Sandbox
from hermes_backend_wall.several import of_others
from hermes_backend_wall.system import WHOLE, inside
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import Feature, Folder, Wall

BASH = ("/bin/bash", "/usr/bin/bash")


class Bubblewrap(Backend):
    """Opens folders of this machine in sandboxes. ``home`` is the home of Hermes, which is never visible inside.

    Of ``offered`` those folders can be read inside that are there, also in that home: skills.
    """

    name = "bubblewrap"

    def __init__(self, config: Config, home: Path, offered: Sequence[Path] = ()) -> None:
        self._config, self._offered = config, offered
        self._home, self._hidden = home, (base_of(home), home)
        self._people = os.path.realpath(home / "people")  # where the folders lie of those who are not the owner
        self._own = os.path.realpath(home / "workspace")  # of sessions that began in a folder too wide to work in
        self.features = frozenset({Feature.LOCAL, Feature.BACKGROUND, Feature.FOLDERS})
        if not config.network:
            self.features |= {Feature.ISOLATED, Feature.OFFLINE}

    @property
    def wall(self) -> Wall:  # type: ignore[override]
        """See Backend."""
        return wall_of(self._config)

    async def ready(self) -> bool:
        """Whether a sandbox can be made here: one is made."""
        with suppress(HermesError):
            await self.probe()
            return True
        return False

    async def probe(self) -> Sandbox:
        """Make a sandbox of an empty folder and end it; what it was. Raises UserError or ToolError with the mend."""
        with TemporaryDirectory(prefix="hermes-probe-") as folder:
            sandbox = Sandbox(Strict(folder, os.path.realpath(folder), self._config, self._hidden))
            try:
                await sandbox.start()
            finally:
                if sandbox.alive:
                    await sandbox.close()
            return sandbox

    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """Open a folder; an empty key means the current one. Raises UserError when it cannot be shown alone."""
        await asyncio.sleep(0)
        bwrap.program()
        folder = folder_here(key)
        named, source = os.path.normpath(folder), os.path.realpath(folder)
        self._must_be_one_project(named, source)
        listed(self._config)
        bash = any(os.access(path, os.X_OK) for path in BASH)
        others = of_others(also, self._home / "cache" / "kept", records_of(self._home))
        return Inside(named, source, self._config, self._hidden, self._offered, also, others, bash=bash)

    def _must_be_one_project(self, named: str, source: str) -> None:
        home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
        hint = "Start Hermes in the folder of your project, or set terminal.cwd."
        if home == source or home.startswith(f"{source.rstrip('/')}/"):
            raise UserError(f"A sandbox of {named} would hold your home folder with its keys.", hint=hint)
        if {named, source} & set(WHOLE) or source.startswith(("/proc/", "/sys/", "/dev/", "/usr/", "/etc/")):
            raise UserError(f"{named} belongs to the system; a sandbox needs a folder of its own.", hint=hint)
        if source.startswith(f"{self._people}/") or inside(source, self._own):
            return
        for hidden in self._hidden:
            kept = os.path.realpath(hidden)
            if source == kept or source.startswith(f"{kept}/"):
                raise UserError(f"{named} belongs to Hermes itself and is never shown in a sandbox.", hint=hint)
