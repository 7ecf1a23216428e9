"""One kernel as a host has it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hermes_core import trace
from hermes_core.agent.forwarded import of_store
from hermes_core.agent.kernel import Kernel
from hermes_core.agent.outputs import seen_in
from hermes_core.agent.policy.guarded import guarded_paths, guarded_place, read_only, readable
from hermes_core.errors import OutOfReach, PluginError
from hermes_core.host import HostBroker, HostedService, HostRecords, HostTurns, Reach
from hermes_core.kinds import Platform, Service, Workspace
from hermes_core.plugins.fence import Late, fenced, one_line
from hermes_core.types import Envelope, Fault, Principal, Rights, Session, Speaker

__all__ = ["Host"]


class Host(HostBroker):
    """One kernel, hosted."""

    def __init__(self, runtime: Kernel) -> None:
        self._runtime, self.interfaces = runtime, runtime.interfaces
        self.turns, self.records = _Turns(runtime), _Records(runtime)

    async def start(self) -> None:
        await self._runtime.warm()
        await self._runtime.dispatch.observe("on_gateway_start")

    def section(self, name: str) -> Any:
        settings, (space, _, platform) = self._runtime.settings, name.partition(".")
        if name == "platforms":
            return settings.raw.get(name) or {}
        return settings.platform(platform) if platform else getattr(settings.config, space)

    async def rights(self, owner: Principal, speaker: Speaker | None = None) -> Rights:
        return await self._runtime.guests.now(owner, speaker)

    def contributed(
        self, table: str, names: Sequence[str], *, named: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Fault]]:
        runtime = self._runtime
        declared = [one for name in names for one in runtime.index.contributing(table, name)]
        for one in declared:
            runtime.loader.load(one, named=named)
        labels = {one.label for one in declared}
        given = {one.name: one for _, one in runtime.dispatch.contributions(f"register_{table}", labels)}
        faults = [fault for fault in runtime.dispatch.faults if fault.plugin in labels]
        return {name: given[name] for name in names if name in given}, faults

    def is_set_up(self, platform: str) -> bool:
        settings = self._runtime.settings
        if (enabled := settings.platform(platform).enabled) is not None:
            return enabled
        plugins = self._runtime.index.contributing("platforms", platform)
        secrets = [secret for one in plugins if one.manifest for secret in one.manifest.secrets]
        sections = settings.raw.get("platforms") or ()  # an empty section counts, too
        return platform in sections or (bool(secrets) and all(settings.secrets.get(secret) for secret in secrets[:1]))

    async def converse(self, platform: Platform, session: str = "") -> None:
        from hermes_core.agent.console import serve

        await serve(self._runtime, platform, session)

    def end_soon(self, status: int, tell: Callable[[], None]) -> None:
        from hermes_core.plugins.watchdog import end_soon

        def leave(label: str, where: str) -> None:
            late = Late("held everything up after the answer, and nobody waited for it")
            self._runtime.dispatch.failed(label, where, late)
            self._runtime.keep_faults()
            tell()

        end_soon(leave, status)

    def services(self) -> Sequence[HostedService]:
        self._runtime.loader.load_contributing("services")
        found = self._runtime.dispatch.contributions("register_services")
        return [self._service(label, one) for label, one in found if isinstance(one, Service)]

    def _service(self, label: str, one: Service) -> HostedService:
        dispatch, where = self._runtime.dispatch, f"register_services: {one.name}"

        async def run() -> None:
            _, error = await fenced(one.run, dispatch.entered(label, where))
            if error:
                raise error if isinstance(error, Exception) else PluginError(label, one_line(error))

        def health() -> str:
            return self._runtime.settings.masks.text(one.health())

        async def did() -> str:
            return self._runtime.settings.masks.text(await dispatch.shielded(label, where, one.status) or "")

        return HostedService(one.name, one.alone, one.local, run, health, did, partial(dispatch.failed, label, where))

    def outputs(self, session: str) -> Path:
        return self._runtime.home.outputs / session


class _Turns(HostTurns):
    def __init__(self, runtime: Kernel) -> None:
        self._runtime = runtime

    @property
    def playing(self) -> int:
        return self._runtime.turns.playing

    async def rest(self) -> None:
        await self._runtime.turns.rest()

    async def let_go(self, session: str) -> None:
        await self._runtime.turns.end(session)

    async def keep(self, session: Session) -> None:
        state = await self._runtime.sessions.take(session.id, session.origin, session.owner)
        await self._runtime.sessions.keep(state, await self._runtime.store())

    async def workspace(self, session: Session) -> Workspace:
        return await self._runtime.sessions.place(session)

    def reach(self, session: Session, path: str, folders: Sequence[str]) -> Reach:
        home, guarded = self._runtime.home, guarded_paths(self._runtime.settings)
        cwd, opened = folders[0], readable(home, session)
        if why := guarded_place(path, cwd, (*guarded, *read_only(home)), opened):
            raise OutOfReach(why)
        roots = [folder for folder in folders if folder not in ("", "/", str(Path.home()))]
        return Reach(cwd, (*roots, *opened), guarded)

    async def seen(self, session: Session, path: Path) -> str:
        return await seen_in(await self._runtime.sessions.place(session), path)

    owner = of_store(lambda store: store.sessions.owner)
    unplayed = of_store(lambda store: store.journal.unplayed)
    cut = of_store(lambda store: store.inbox.begun_by)
    waiting = of_store(lambda store: store.inbox.waiting)
    stop_wanted = of_store(lambda store: store.inbox.stop_wanted)
    tell = of_store(lambda store: store.notes.post)


class _Records(HostRecords):
    def __init__(self, runtime: Kernel) -> None:
        self._runtime = runtime

    answers = of_store(lambda store: store.answers)
    done = of_store(lambda store: store.inbox.done)
    commands_waiting = of_store(lambda store: store.inbox.commands_waiting)
    forget = of_store(lambda store: store.inbox.forget)
    over = of_store(lambda store: store.journal.over)

    async def hear(self, owner: Principal, envelope: Envelope) -> int:
        return await (await self._runtime.store()).inbox.hear(owner, envelope, trace.current())

    async def refuse(self, owner: Principal, envelope: Envelope, why: str) -> None:
        await (await self._runtime.store()).inbox.refuse(owner, envelope, why, trace.current())

    async def leave(self) -> None:
        await self._runtime.sessions.leave()
