"""Sessions that this process has taken up, and the scene each of their turns plays in."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from weakref import WeakValueDictionary

from attrs import evolve, field

from hermes_closed.closed import expanded, wide
from hermes_core import trace
from hermes_core.agent.bounds import CHILD
from hermes_core.agent.capabilities import Permitted
from hermes_core.agent.incoming import enveloped
from hermes_core.agent.offering import offered
from hermes_core.agent.prompt import prompt_text
from hermes_core.agent.runtime import Runtime
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Workspace
from hermes_core.patterns import pattern
from hermes_core.types import Message, Principal, Session, SessionEnd, ToolSpec, TurnBounds, Usage
from hermes_core.values import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.resources import Resources
    from hermes_core.store.store import Store

__all__ = ["OpenSessions", "SessionState", "new_session_id"]

_ID = pattern(r"(?!\.{1,2}$)[^\x00-\x1f\x7f/\\\ud800-\udfff]{1,100}")
_KEPT = 100  # resting sessions a process keeps at hand; the others are taken up again from the store


def new_session_id(now: float | None = None) -> str:
    """Make a fresh session id: local time and eight hex digits, so that hundreds a second do not meet."""
    return f"{time.strftime('%Y%m%d_%H%M%S', time.localtime(now))}_{os.urandom(4).hex()}"


@define(eq=False)
class SessionState:
    """A session that this process has taken up."""

    session: Session
    prompt: str
    specs: tuple[ToolSpec, ...]
    begun: tuple[ToolSpec, ...]  # what its models were told of in its last turn, in whatever process
    came: frozenset[str]  # the tools that could be used then; by what they need and by themselves they come and go
    known: bool  # whether the session has its row
    stored: bool  # whether its prompt has one too, and says what they are told of now
    left: int = 0  # the token of a turn that ended, but could not be closed
    closing: "asyncio.Task[str] | None" = None  # an interrupted turn whose end is not stored yet
    count: Callable[[Usage], None] | None = None  # of the turn that runs: what was used for it beside its replies
    keep: Callable[[], Awaitable[None]] | None = None  # of that turn, as it is left: stores what was shown of a reply
    ran: set[str] = field(factory=set)
    workspace: Workspace | None = None
    permitted: dict[str, Permitted] = field(factory=dict)  # the same, as each tool may use it
    keeping: asyncio.Lock = field(factory=asyncio.Lock)

    async def closed(self) -> None:
        """Wait until the last turn has its end."""
        if self.closing:
            await asyncio.wait({self.closing})
            self.closing = None

    @property
    def busy(self) -> bool:
        """Whether something of it is not at its end: a turn, what a turn left, a command in its workspace."""
        running = self.session.turn or self.left or self.closing
        return bool(running) or (self.workspace is not None and self.workspace.busy)


class OpenSessions:
    """Takes sessions up, sets their scenes, and lets them go."""

    def __init__(self, runtime: Runtime, holder: str) -> None:
        self.runtime = runtime
        self.holder = holder
        self.leaves = 0  # how often all turns that ran were left to whoever comes next
        self._open: dict[str, SessionState] = {}
        self._taking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @cached_property
    def resources(self) -> "Resources":
        """What plugins keep open for sessions."""
        from hermes_core.agent.resources import Resources

        return Resources(self.runtime)

    async def end_resources(self, *sessions: str) -> None:
        """Close what plugins keep open for sessions; for all where none is named."""
        if "resources" in vars(self):
            await self.resources.end(*sessions)

    async def take(
        self,
        session_id: str,
        origin: str,
        owner: Principal,
        system: str = "",
        *,
        folder: str = "",
        bounds: TurnBounds | None = None,
        parent: str = "",
    ) -> SessionState:
        """Take a session by its exact id, or a new one (with that id, when it is given and free).

        Of a new one ``system`` is what a caller adds to its prompt, ``folder`` where it works, ``parent`` the session
        that it works for, or the plugin that hides it; its model is told of no tool that ``bounds`` do not permit.
        """
        lock = self._taking.setdefault(session_id, asyncio.Lock()) if session_id else asyncio.Lock()
        new = Session(id=session_id, origin=origin, owner=owner, parent=parent, cwd=folder, bounds=bounds)
        async with lock:
            return await self._take(new, system)

    async def _take(self, new: Session, system: str) -> SessionState:
        runtime, session_id, owner = self.runtime, new.id, new.owner
        if session_id and (state := self._open.get(session_id)):
            if state.session.owner != owner:
                raise _not_yours(session_id)
            self._open[session_id] = self._open.pop(session_id)  # the one used last comes last
            return state
        runtime.load_hooks()
        route = await runtime.routes.get()
        session, stored = None, None
        if session_id:
            store = await runtime.store()
            if not await store.sessions.is_free(session_id):
                try:
                    session = await store.sessions.get(session_id, owner)
                except UnknownName:
                    raise _not_yours(session_id) from None
                stored = await store.sessions.load_prompt(session_id)
        known = session is not None
        if session_id and not known and not _ID.fullmatch(session_id):
            raise UserError(f"{session_id[:80]!r} cannot be the id of a session: files are named by it.")
        if session is None:
            place = new.cwd or self.folder("", owner)
            session = evolve(new, id=session_id or new_session_id(), cwd=place, created=time.time())
        elif new.origin == CHILD:
            session = evolve(session, bounds=new.bounds)  # a death came between its row and that of its turn
        place = self.narrow(session.cwd, owner) if session.cwd else ""
        at = runtime.workspaces.backend(owner)
        rights = runtime.guests.rights(owner)
        session = evolve(session, cwd=place, provider=route.name, model=route.model, backend=at, rights=rights)
        begun, came = _read_specs(stored[1]) if stored else (), runtime.toolbox().offered(evolve(session, bounds=None))
        specs = tuple((await offered(runtime, session, begun)).tools)
        if stored:
            same, bare = begun == specs, evolve(session, bounds=None)
            begun = specs if same else begun  # one copy is enough
            state = SessionState(bare, stored[0], specs, begun, frozenset(came), known=True, stored=same)
        else:
            prompt = await runtime.prompt(session, system)
            session = evolve(session, bounds=None)  # they are of the turn, not of those to come
            state = SessionState(session, prompt_text(prompt), specs, specs, frozenset(came), known=known, stored=False)
        self._open[session.id] = state
        await runtime.dispatch.observe("on_session_start", session=session)
        await self._let_go()
        return state

    async def renew(self, state: SessionState, bounds: TurnBounds | None) -> None:
        """Take up for a new turn the tools that came, behind those its models were told of, and let go of those gone.

        ``bounds`` are those of the turn.
        """
        session = evolve(state.session, bounds=bounds)
        if state.came == (came := frozenset(self.runtime.toolbox().offered(state.session))):
            return
        stored = await (await self.runtime.store()).sessions.load_prompt(session.id) if state.known else None
        begun = _read_specs(stored[1]) if stored else state.specs
        state.specs, state.came = tuple((await offered(self.runtime, session, begun)).tools), came
        state.stored = stored is not None and begun == state.specs

    def count(self, session: Session, usage: Usage) -> None:
        """Count for the turn that runs in a session what a plugin had a model do."""
        state = self._open.get(session.id)
        if state and state.count and session.turn == state.session.turn:
            state.count(usage)

    def holds(self, session_id: str, owner: Principal | None = None) -> bool:
        """Tell whether a session is taken up here, and is the ``owner``'s."""
        state = self._open.get(session_id)
        return state is not None and owner in (None, state.session.owner)

    def folder(self, session_id: str, owner: Principal) -> str:
        """Say where a session works; a new one of a guest in their own folder."""
        if state := self._open.get(session_id):
            return state.session.cwd
        guests = self.runtime.guests
        if guests.is_guest(owner):
            return str(guests.folder(owner))
        return self.narrow(self.runtime.settings.config.terminal.cwd or here(), owner)

    def narrow(self, place: str, owner: Principal) -> str:
        """Return the folder, or one of Hermes' own in the place of one too wide to work in."""
        full = expanded(place)
        broad = wide(full)
        if (full == place and not broad) or not self.runtime.workspaces.is_here(owner):  # most starts load no backend
            return place
        if not broad:
            return full
        own = self.runtime.home.root / "workspace"
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        return str(own)

    async def _let_go(self) -> None:
        """End what this process did in the sessions that rest longest; not where something still runs."""
        at_work = self.resources.busy if "resources" in vars(self) else lambda _: False
        resting = [state for name, state in self._open.items() if not state.busy and not at_work(name)]
        for state in resting[:-_KEPT]:  # while one ends, others are let go of too, and some taken up again
            if self._open.get(name := state.session.id) is state and not (state.busy or at_work(name)):
                del self._open[name]
                await self._end(state)

    async def fork(
        self, source: str, owner: Principal, origin: str = "", *, upto: str = "", title: str = "", parent: str = ""
    ) -> Session:
        """Make a new session with the prompt and history of another, until the end of the turn ``upto``, if given."""
        store = await self.runtime.store()
        new = evolve(await store.sessions.get(source, owner), id=new_session_id(), title=title, parent=parent, turn="")
        copy = evolve(new, origin=origin or new.origin, created=0.0)
        await store.sessions.fork(owner, source, copy, upto=upto)
        return await store.sessions.get(copy.id, owner)

    async def rename(self, session: Session, title: str) -> Session:
        """Give a session a title, in the store and here. Raises UserError when another one has it."""
        store = await self.runtime.store()
        state = await self.take(session.id, session.origin, session.owner)
        await self.keep(state, store)
        await store.sessions.rename(session.id, title, session.owner)
        state.session = evolve(state.session, title=title)
        return state.session

    async def keep(self, state: SessionState, store: "Store", history: Sequence[Message] = ()) -> None:
        """Give a session its rows, once; a new one begins with what was said elsewhere before."""
        self._open[state.session.id] = state  # it may have been let go before its turn began
        async with state.keeping:
            if not state.known:
                new, specs = state.session, _specs_json(state.specs)
                state.stored = await store.sessions.begin(new, state.prompt, specs, history)
                if not state.stored and (stored := await store.sessions.load_prompt(new.id)):
                    state.prompt = stored[0]  # the bytes that its models know
                    state.specs = tuple((await offered(self.runtime, new, _read_specs(stored[1]))).tools)
                state.known = True
            if not state.stored:
                await store.sessions.save_prompt(state.session.id, state.prompt, _specs_json(state.specs))
                state.stored = True
            state.begun = state.specs

    async def forget(self, session_id: str) -> None:
        """Let go of a session whose rows are gone."""
        if state := self._open.pop(session_id, None):
            await self._end(state)

    async def delete(self, session_id: str, owner: Principal, *, erased: bool = False) -> None:
        """Delete a session and those of its child agents, and tell plugins. Raises UnknownName, Busy."""
        self.runtime.loader.load_hooks("on_session_deleted")
        for gone in await (await self.runtime.store()).sessions.delete(session_id, owner):
            await self.forget(gone.id)
            await self.runtime.dispatch.observe("on_session_deleted", session=gone, erased=erased)
        if erased:
            await self.runtime.dispatch.settle()

    async def place(self, session: Session) -> Workspace:
        """Find where the commands of a session run, as its turns will find it. Raises UserError when there is none."""
        state = await self.take(session.id, session.origin, session.owner)
        state.workspace = state.workspace or await self.runtime.workspaces.open(state.session)
        return state.workspace

    async def say_next(self, state: SessionState, words: str) -> None:
        """Let what a person said in a turn that ends now wait as the next message."""
        envelope = enveloped(words, "", state.session.origin, state.session.owner)
        store = await self.runtime.store()
        await store.inbox.wait(
            state.session.id, envelope.message, mode="queue", envelope=envelope, trace=trace.current()
        )

    async def leave(self) -> None:
        """Leave the turns that run to whoever comes next, at once, with what was shown of their replies."""
        self.leaves += 1  # also those whose rows are under way
        keeping = [state.keep() for state in self._open.values() if state.keep]
        await asyncio.gather(*keeping, return_exceptions=True)  # a turn may be another's by now
        await (await self.runtime.store()).journal.leave(self.holder)

    async def close(self) -> None:
        """End what this process did in its sessions; they can be taken up again."""
        await self.end_resources()
        while self._open:
            await self._end(self._open.popitem()[1])

    async def _end(self, state: SessionState) -> None:
        await self.runtime.dispatch.observe("on_session_end", session=state.session, end=SessionEnd(reason="closed"))
        await self.end_resources(state.session.id)
        if state.workspace is not None:
            await state.workspace.close()


def here() -> str:
    """Return the current folder. Raises UserError when it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        raise UserError("The current folder is gone.", hint="cd to another folder and start again.") from None


def _not_yours(session_id: str) -> UserError:
    """Make one answer for every name that is somebody else's; it does not say whose, nor what is there."""
    return UserError(f"The name {session_id} cannot be used here.", hint="Choose another one.")


def _specs_json(specs: Sequence[ToolSpec]) -> str:
    return json.dumps([{"name": s.name, "description": s.description, "schema": s.schema} for s in specs])


def _read_specs(stored: str) -> tuple[ToolSpec, ...]:
    try:
        return tuple(ToolSpec(**item) for item in json.loads(stored))
    except (ValueError, TypeError):
        return ()
