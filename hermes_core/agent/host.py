"""One kernel as a host has it."""

from collections.abc import AsyncGenerator, Container, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hermes_core import trace
from hermes_core.agent.outputs import seen_in
from hermes_core.agent.policy.guarded import guarded_paths, guarded_place, read_only, readable
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.errors import OutOfReach, PluginError, UnknownName, UserError
from hermes_core.host import HostBroker, HostedService, HostRecords, HostTurns, Reach
from hermes_core.kinds import Platform, Service, TurnQueue, Workspace
from hermes_core.plugins.fence import fenced, one_line
from hermes_core.plugins.index import Installed
from hermes_core.types import (
    Account,
    Approval,
    Envelope,
    Event,
    Feature,
    Message,
    Principal,
    Serving,
    Session,
    Verdict,
    Waiting,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.database import Prepared
    from hermes_core.store.store import Store

__all__ = ["Host"]


class Host(HostBroker):
    """For one plugin, which is let at all of it or at nothing."""

    def __init__(self, runtime: Runtime, installed: Installed) -> None:
        installed.require("permissions", "kernel", "host.serve", "hosted conversations of anybody")
        self._runtime = runtime
        self.turns, self.records = _Turns(runtime), _Records(runtime)

    async def start(self) -> None:
        await self._runtime.warm()
        await self._runtime.dispatch.observe("on_gateway_start")

    def section(self, name: str) -> Any:
        settings, (space, _, platform) = self._runtime.settings, name.partition(".")
        if name == "platforms":
            return settings.raw.get(name) or {}
        return settings.platform(platform) if platform else getattr(settings.config, space)

    def platforms(self, names: Sequence[str] = ()) -> tuple[Sequence[Platform], str]:
        runtime = self._runtime
        offered = runtime.index.offered("platforms")
        for name in names:
            if name not in offered:
                raise UnknownName("platform", name, offered, hint=f"pip install hermes-platform-{name}")
        wanted = list(names) or [name for name in offered if self._is_set_up(name)]
        gone = [] if names else sorted(self.section("platforms").keys() - offered)
        there = [name for name in gone if runtime.settings.platform(name).enabled is not False]
        problems = [f"Platform {name} is not installed: pip install hermes-platform-{name}" for name in there]
        if not wanted:
            return [], "\n".join(problems)
        runtime.loader.load_contributing("platforms", wanted)
        found = {p.name: p for _, p in runtime.dispatch.contributions("register_platforms")}
        if missing := [name for name in wanted if name not in found]:
            faults = "; ".join(fault.error for fault in runtime.dispatch.faults) or "it is not enabled"
            problems.append(f"Platform {', '.join(sorted(missing))} cannot be served: {faults}")
            if names or len(missing) == len(wanted):
                raise UserError("\n".join(problems))
        return [found[n] for n in wanted if n in found and Feature.LIVE not in found[n].features], "\n".join(problems)

    def _is_set_up(self, name: str) -> bool:
        settings = self._runtime.settings
        if (enabled := settings.platform(name).enabled) is not None:
            return enabled
        plugins = self._runtime.index.contributing("platforms", name)
        secrets = [secret for one in plugins if one.manifest for secret in one.manifest.secrets]
        sections = settings.raw.get("platforms") or ()  # an empty section is a wish, too
        return name in sections or (bool(secrets) and all(settings.secrets.get(secret) for secret in secrets[:1]))

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

    def queue(self) -> TurnQueue | None:
        runtime = self._runtime
        name = runtime.settings.config.workers.engine
        if name == "local":
            return None
        runtime.loader.load_contributing("engines", [name])
        found: dict[str, TurnQueue] = {one.name: one for _, one in runtime.dispatch.contributions("register_engines")}
        if name not in found:
            hint = f"pip install hermes-backend-{name}, or set workers.engine."
            raise UnknownName("engine", name, ["local", *found], hint=hint)
        return found[name]

    def outputs(self, session: str) -> Path:
        return self._runtime.home.outputs / session


class _Turns(HostTurns):
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def playing(self) -> int:
        return self._runtime.turns.playing

    async def rest(self) -> None:
        await self._runtime.turns.rest()

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

    async def owner(self, session: str) -> Principal | None:
        return await (await self._runtime.store()).sessions.owner(session)

    async def unplayed(
        self, came: Container[tuple[Principal, str, str]], *, limit: int = 100
    ) -> Sequence[tuple[str, Principal]]:
        return await (await self._runtime.store()).journal.unplayed(came, limit=limit)

    async def cut(self, session: str) -> Waiting | None:
        return await (await self._runtime.store()).inbox.begun_by(session)

    async def waiting(self, session: str) -> Sequence[Waiting]:
        return await (await self._runtime.store()).inbox.waiting(session)

    def resume(self, session: str, *, owner: Principal, **origin: Any) -> AsyncGenerator[Event, None]:
        return self._runtime.turns.resume(session, owner=owner, turn_origin=TurnOrigin(**origin))

    def follow(self, session: str, *, owner: Principal, **origin: Any) -> AsyncGenerator[Event, None]:
        return self._runtime.turns.follow(session, owner=owner, turn_origin=TurnOrigin(**origin))

    async def stop_wanted(self, session: str) -> bool:
        return await (await self._runtime.store()).inbox.stop_wanted(session)

    async def asked_from(self, session: str, owner: Principal) -> Envelope | None:
        return await (await self._runtime.store()).inbox.asked_from(session, owner)

    async def tell(self, session: str, key: str, told: Message, also: "Prepared[bool]") -> bool:
        return await (await self._runtime.store()).notes.post(session, key, told, also)


class _Records(HostRecords):
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def _store(self) -> "Store":
        return await self._runtime.store()

    async def answers(self) -> None:
        await (await self._store()).answers()

    async def hear(self, owner: Principal, envelope: Envelope) -> int:
        return await (await self._store()).commands.hear(owner, envelope, trace.current())

    async def refuse(self, owner: Principal, envelope: Envelope, why: str) -> None:
        await (await self._store()).commands.refuse(owner, envelope, why, trace.current())

    async def done(self, row: int, also: "Prepared[object] | None" = None) -> None:
        await (await self._store()).commands.done(row, also)

    async def heard(self, platform: str, account: str) -> Sequence[Waiting]:
        return await (await self._store()).commands.waiting(platform, account)

    async def forget(self, before: float) -> None:
        await (await self._store()).commands.forget(before)

    async def over(self, turns: Sequence[str], before: float) -> Sequence[str]:
        return await (await self._store()).journal.over(turns, before)

    async def ask(self, session: Session, question: Approval) -> Approval:
        return await (await self._store()).approvals.ask(session, question)

    async def question(self, owner: Principal, name: str, *, admin: bool = False) -> Approval:
        return await (await self._store()).approvals.find(owner, name, admin=admin)

    async def questions(self, owner: Principal, *, admin: bool = False) -> Sequence[Approval]:
        return await (await self._store()).approvals.list(owner, admin=admin)

    async def settle(
        self, owner: Principal, name: str, verdict: Verdict, *, expired: bool = False
    ) -> tuple[Approval, bool]:
        store = await self._store()
        return await store.approvals.settle(owner, name, verdict, state="expired" if expired else "answered")

    async def accounts(self) -> Sequence[Account]:
        return await (await self._store()).accounts.list()

    async def serve(self, platform: str, account: str) -> Serving | None:
        return await (await self._store()).accounts.serve(platform, account, holder=self._runtime.sessions.holder)

    async def keep_serving(self, serving: Serving, state: str = "", error: str = "") -> None:
        store = await self._store()
        await (store.accounts.tell(serving, state, error) if state else store.accounts.keep(serving))

    async def stop_serving(self, serving: Serving) -> None:
        await (await self._store()).accounts.stop(serving)

    async def leave(self) -> None:
        await (await self._store()).journal.leave(self._runtime.sessions.holder)
