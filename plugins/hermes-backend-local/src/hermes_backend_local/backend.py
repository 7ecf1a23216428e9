"""The backend ``local``. What a session does with it is imported when its first workspace is opened."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_backend_local.config import Config
from hermes_backend_wall.plan import Kind, Plan, base_of, chosen, records_of
from hermes_backend_wall.walled import expected
from hermes_core.context import PluginContext, PluginPaths
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import Feature, Folder, Wall

if TYPE_CHECKING:
    from hermes_backend_local.asking import Keep


class Local(Backend):
    """Opens folders of this machine; ``plan`` says behind which wall their commands are, None behind none.

    ``hosts`` are those that a person opened to commands behind it, ``keep`` writes one more down; ``kind`` is what they
    want where there is no plan.
    """

    name = "local"

    def __init__(
        self,
        passthrough: Iterable[str] = (),
        guarded: Iterable[Path] = (),
        plan: Plan | None = None,
        hosts: Iterable[str] = (),
        kind: Kind = "none",
        keep: "Keep | None" = None,
    ) -> None:
        self._kind: Kind = plan.kind if plan else kind
        self._passthrough, self._guarded, self._plan = tuple(passthrough), tuple(guarded), plan
        self._hosts, self._keep = list(hosts), keep
        self._takes = plan is not None and plan.kind != "seatbelt"
        walled = {*((Feature.WALLED,) if plan else ()), *((Feature.FOLDERS,) if self._takes else ())}
        self.features = frozenset({Feature.BACKGROUND, Feature.LOCAL, *walled})

    @property
    def wall(self) -> Wall:  # type: ignore[override]
        """See Backend: the one that is tried first."""
        return expected(self._kind)

    async def _kept(self, host: str) -> None:
        self._hosts.append(host)
        if self._keep:
            await self._keep(host)

    async def ready(self) -> bool:
        """This machine is always there."""
        return True

    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """Open a folder; an empty key means the current one. Raises UserError."""
        from hermes_backend_kit.places import folder_here
        from hermes_backend_local.wayout import WayOut
        from hermes_backend_local.workspace import Here
        from hermes_backend_wall.walled import Walled

        folder = os.path.normpath(folder_here(key))
        if not self._plan:
            return Here(folder, self._passthrough, self._guarded)
        way = WayOut(folder, self._hosts, self._kept if self._keep else None)
        walled = Walled(folder, evolve(self._plan, on_connection=way.serve), also if self._takes else ())
        walled.recover()
        return Here(folder, self._passthrough, self._guarded, walled, way)


def local(ctx: PluginContext) -> Local:
    """The backend as it is set up."""
    config: Config = ctx.config or Config()

    async def keep(host: str) -> None:
        from hermes_backend_local.keeping import keep_host

        await keep_host(ctx, host)

    plan = plan_of(config, ctx.paths)
    return Local(config.env_passthrough, ctx.paths.guarded, plan, config.hosts, config.wall, keep)


def plan_of(config: Config, paths: PluginPaths) -> Plan | None:
    """What its walls are made of; None where there is none to be."""
    if chosen(config.wall) == "none":
        return None
    from hermes_backend_wall.limits import Limits
    from hermes_backend_wall.skills import folders

    return Plan(
        kind=config.wall,
        homes=paths.cache / "homes",
        records=records_of(paths.home),
        hidden=(base_of(paths.home), paths.home),
        readable=tuple(config.readable),
        writable=tuple(config.writable),
        offered=folders(paths),
        limits=Limits(memory_mb=config.memory_mb, processes=config.processes),
    )
