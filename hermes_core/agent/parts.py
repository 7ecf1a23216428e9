"""The parts of one kernel: settings, plugins, store, tools, model. Each is made when it is first needed."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Self

from attrs import evolve

from hermes_core import hooks
from hermes_core.agent.opening import address_of, driver_for, mailbox_of
from hermes_core.agent.policy.guarded import guarded_paths, read_only, readable
from hermes_core.agent.policy.guests import Guests
from hermes_core.agent.route.choice import Route, choose
from hermes_core.agent.route.router import Router
from hermes_core.agent.surface import CHILD, Surface
from hermes_core.brokers import Mailbox
from hermes_core.config.files import explain
from hermes_core.config.gateway import listed
from hermes_core.config.settings import Settings
from hermes_core.context import PluginContext
from hermes_core.environment import switched_on
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Backend, Memory, StoreDriver, Tool, Workspace
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.loader import Loader, config_sections
from hermes_core.plugins.maskers import find_maskers
from hermes_core.types import (
    JSON,
    Event,
    Feature,
    MediaRequest,
    MediaResponse,
    MediaVerb,
    Principal,
    Prompt,
    PromptBlock,
    Request,
    Response,
    Session,
    SlashCommand,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.asking import Asker
    from hermes_core.agent.policy.judge import Policy
    from hermes_core.agent.toolbox import Toolbox
    from hermes_core.store.store import Store

__all__ = ["Parts"]

log = logging.getLogger(__name__)


class Parts:
    """What a kernel is put together from. Several may live in one process; nothing is global."""

    def __init__(
        self,
        settings: Settings,
        index: Index,
        consent: Consent,
        *,
        owner: Principal,
        provider: str = "",
        model: str = "",
        toolsets: Sequence[str] = (),
        yolo: bool = False,
        tools: Sequence[Tool] = (),
        strict: bool = False,
    ) -> None:
        """``owner`` is whose machine this is, and whose sessions these are where nobody says so."""
        self.settings = settings
        self.home = settings.home
        self.index, self.consent = index, consent
        settings.require_claims(index.config_sections)
        self.owner = owner
        gateway = settings.config.gateway
        self.guests = Guests(
            host=owner,
            people=settings.home.root / "people",
            trusted=tuple(listed(gateway.trusted_with_shell)),
            asks_admin=gateway.approvals == "admin",
        )
        self._wanted = (provider, model)
        self._toolsets = tuple(toolsets) or tuple(settings.config.toolsets)
        self._own_tools = tuple(tools)
        order = settings.config.plugins.order
        trace = None
        if switched_on("HERMES_TRACE_HOOKS"):
            import sys

            trace = sys.stderr
        seconds = settings.config.policy.ask_seconds
        deadlines: dict[hooks.Mode, float] = {"ask": seconds}
        masked = settings.masks.always
        self.dispatch = Dispatch(order=order, strict=strict, trace=trace, deadlines=deadlines, masked=masked)
        self.loader = Loader(
            index,
            consent,
            self.dispatch,
            context=self.plugin_context,
            markers=self.home.cache / "crash_markers",
            strict=strict,
        )
        self.maskers = partial(find_maskers, index, consent, self.loader, self.dispatch)
        settings.masks.use(self.maskers)
        self._yolo = yolo
        self.route: Route | None = None
        self.router = Router(settings, index, self.loader, self.dispatch)
        self._routes: dict[tuple[str, str], Route] = {}  # besides the usual one: by the provider and model asked for
        self._toolbox: Toolbox | None = None
        self._store: asyncio.Task[Store] | None = None
        self._hooks_loaded = False
        self.messages: Callable[[], Mailbox] | None = None  # who sends to chats, if no plugin; set by who made this
        self.commands: Callable[[], Sequence[SlashCommand]] = tuple  # slash commands about chats; set by the same

    def asker(self, surface: Surface, emit: Callable[[Event], None]) -> "Asker":
        """Who puts the questions of one turn to its person. The turn that one works for sets the time."""
        from hermes_core.agent.asking import Asker

        seconds = None if surface.above else self.settings.config.policy.ask_seconds
        return Asker(self.dispatch, surface.ask, emit, self.store, seconds)

    @cached_property
    def policy(self) -> "Policy":
        """What may be done. A first screen does not need it, and it is the largest of the parts."""
        from hermes_core.agent.policy.judge import Policy
        from hermes_core.agent.policy.risks import own_code

        settings = self.settings
        rules, fixed = settings.config.policy, "policy.mode" in settings.locked
        return Policy(
            self.dispatch,
            mode=self.first_mode,
            deny=rules.deny,
            allow=rules.allow,
            guarded=(*guarded_paths(settings), *read_only(settings.home)),
            readable=lambda session: readable(settings.home, session),
            own=own_code(self._code),
            trusted=rules.trusted_hosts,
            brand=settings.home.brand,
            records=self.index.commands,
            machine=settings.config.terminal.backend,
            store=self.store,
            fixed=fixed,
            guests=self.guests,
        )

    def mode(self, session_id: str) -> str:
        """What needs a yes in a session of the owner's."""
        return self.policy.mode(session_id) if "policy" in vars(self) else self.first_mode

    @property
    def first_mode(self) -> str:
        """What needs a yes, where nobody has said otherwise."""
        rules, fixed = self.settings.config.policy, "policy.mode" in self.settings.locked
        return "off" if self._yolo and not fixed else rules.mode

    def mailbox(self) -> Mailbox:
        """Who sends to chats. Raises UserError when nobody does, or two plugins would."""
        return mailbox_of(self.loader, self.dispatch, self.messages)

    # --- parts, made when first needed --------------------------------------------------------------------------

    async def store(self) -> "Store":
        """The open store. It is opened in a thread, so that a request that is under way is not held up."""
        if self._store is None or (self._store.done() and self._store.exception()):  # it may go well by now
            url = address_of(self.settings)
            driver = driver_for(url, self.index, self.loader, self.dispatch) if url else None
            self._store = asyncio.create_task(asyncio.to_thread(self._open_store, url, driver))
        return await asyncio.shield(self._store)

    def _open_store(self, url: str, driver: StoreDriver | None) -> "Store":
        from hermes_core.store.store import open_store

        return open_store(self.home.database, url=url, driver=driver, durability=self.settings.config.store.durability)

    def toolbox(self) -> "Toolbox":
        """The tools of all enabled tool plugins and of the embedding program."""
        if self._toolbox is None:
            from hermes_core.agent.toolbox import Toolbox

            self.loader.load_contributing("tools")
            self.loader.load_contributing("tool_sources")
            self._toolbox = Toolbox(
                (*self.dispatch.contributions("register_tools"), *(("this program", tool) for tool in self._own_tools)),
                self.dispatch.contributions("register_tool_sources"),
                toolsets=(*self._toolsets, *(t.toolset for t in self._own_tools)) if self._toolsets else (),
                disabled=self.settings.config.agent.disabled_tools,
                off_on=self.settings.config.agent.disabled_on,
                report=self.dispatch.failed,
            )
        return self._toolbox

    async def routed(self, words: str = "") -> Route:
        """Who answers: ``model`` or ``provider:model``, else who was configured. Raises UserError when nobody can."""
        if words:
            return await self._chosen("", words)
        if self.route is None:
            self.route = await self._choose(*self._wanted)
        return self.route

    async def _choose(self, provider: str, model: str) -> Route:
        return await choose(self.settings, self.index, self.loader, self.dispatch, provider=provider, model=model)

    async def _chosen(self, provider: str, model: str) -> Route:
        """The same, once for each: its provider keeps its connections."""
        if (provider, model) not in self._routes:
            self._routes[provider, model] = await self._choose(provider, model)
        return self._routes[provider, model]

    async def routed_for(self, words: str, effort: str) -> Route:
        """Who answers in a conversation that chose for itself; the usual one where it did not, or that one is gone."""
        route = None
        with contextlib.suppress(HermesError):
            route = await self.routed(words)
        route = route or await self.routed()
        return evolve(route, effort=effort) if effort else route

    async def route_to(self, provider: str, model: str) -> Route | None:
        """Who was named, whatever this process was started with; None when they are not there."""
        mine = await self.routed()
        if (mine.name, mine.model) == (provider, model):
            return mine
        with contextlib.suppress(HermesError):
            return await self._chosen(provider, model)
        return None

    async def use_model(self, words: str) -> Route:
        """Answer with another model from now on: ``model`` or ``provider:model``."""
        provider, model = (self.route.name, words) if self.route and ":" not in words else ("", words)
        route = await self._choose(provider, model)
        if self.route is not None and self.route.provider is not route.provider:
            await self.route.provider.close()
        self.route = route
        return route

    def memory(self, session: Session | None = None) -> Memory | None:
        """The configured memory, or None when its plugin is not there. A session that works for another has none."""
        name = self.settings.config.memory.provider
        if not name or (session and session.origin == CHILD):
            return None
        self.loader.load_contributing("memories", [name])
        found: dict[str, Memory] = {m.name: m for _, m in self.dispatch.contributions("register_memories")}
        return found.get(name)

    def backend(self, owner: Principal) -> str:
        """The name of the backend that somebody's commands run on."""
        config = self.settings.config
        return (self.guests.is_guest(owner) and config.gateway.backend) or config.terminal.backend

    def is_here(self, owner: Principal) -> bool:
        """Whether somebody's tools see the files of this machine, under the same paths."""
        found = self._backends(self.backend(owner)).get(self.backend(owner))
        return found is not None and Feature.LOCAL in found.features

    def _backends(self, name: str) -> dict[str, Backend]:
        self.loader.load_contributing("backends", [name])
        return {b.name: b for _, b in self.dispatch.contributions("register_backends")}

    async def workspace(self, session: Session) -> Workspace:
        """The place where this session's commands run. Raises UserError when there is none."""
        name = self.backend(session.owner)
        if self.guests.is_guest(session.owner):
            try:
                self.guests.folder(session.owner).mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise explain(error, "make", self.guests.folder(session.owner)) from error
        found = self._backends(name)
        if name not in found:
            raise UnknownName(
                "backend", name, found, hint=f"pip install hermes-backend-{name}, or set terminal.backend."
            )
        return await found[name].open(session.cwd)

    def beside(self, settings: Settings) -> Self:
        """A kernel of the same plugins with other settings; whoever asks closes it."""
        return type(self)(settings, self.index, self.consent, owner=self.owner)

    def plugin_context(self, installed: Installed) -> PluginContext:
        """What a plugin gets of this kernel. Raises ConfigError when its section of the settings is wrong."""
        skills = [
            (one.manifest.name, Path(one.path, folder))
            for one in self.index.plugins
            if one.manifest and one.manifest.contributes["skills"] and not one.fault
            if self.consent.state(one).usable
            for folder in one.manifest.contributes["skills"]
        ]
        guarded = guarded_paths(self.settings)
        return make_context(
            installed,
            self.settings,
            store=self.store,
            address=lambda: address_of(self.settings),
            migrations=lambda label: [m for by, m in self.dispatch.contributions("register_migrations") if by == label],
            complete=self.complete,
            media=self.media,
            more=self.broker,
            messages=self.mailbox,
            skills=skills,
            guarded=guarded,
            owner=self.owner,
        )

    def broker(self, name: str, installed: Installed) -> object:
        """A broker of a plugin's context that parts alone cannot give. Raises UserError."""
        raise UserError(f"There are no {name} here.")

    async def delete_session(self, session_id: str, owner: Principal) -> None:
        """Delete a session and those of its child agents. Raises UnknownName, Busy. Of parts alone there are none."""
        raise UnknownName("session", session_id)

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        """One model call outside of a turn, booked under its task. Raises ProviderError."""
        began = time.monotonic()
        response, route = await self.router.complete(await self.routed(), request, task)
        await self._book(session, response.usage, began, task=task, provider=route.name, model=route.model)
        return response

    async def media(
        self, verb: MediaVerb, request: MediaRequest, task: str = "", session: Session | None = None
    ) -> MediaResponse:
        """The same for what is no conversation. Raises ProviderError; UserError where nobody can do it."""
        began, task = time.monotonic(), task or verb
        response, route = await self.router.media(await self.routed(), verb, request, task)
        await self._book(session, response.usage, began, task=task, provider=route.name, model=response.model)
        return response

    async def _book(self, session: Session | None, usage: Usage, began: float, **who: str) -> None:
        """Write down what a call beside a turn used."""
        store, owner = await self.store(), session.owner if session else self.owner
        where = {"session_id": session.id, "turn_id": session.turn} if session else {}
        await store.spending.add(owner, usage, seconds=time.monotonic() - began, **who, **where)

    def options(self) -> dict[str, JSON]:
        """How the user wants models to be asked."""
        model = self.settings.config.model
        wanted = {"max_tokens": model.max_tokens or None, "temperature": model.temperature}
        return {name: value for name, value in wanted.items() if value is not None}

    def _code(self) -> list[str]:
        """Where the code lies that this process runs: its own package, and those of the plugins."""
        return [str(Path(__file__).parents[1]), *(one.path for one in self.index.plugins if one.path[:1] == "/")]

    def config_sections(self) -> dict[str, type]:
        """The settings classes of enabled plugins, by the path of their section."""
        return config_sections(self.index, self.consent)

    def load_hooks(self) -> None:
        """Import the plugins that asked to be alive during sessions."""
        if not self._hooks_loaded:
            self._hooks_loaded = True
            self.loader.load_hooks(*(n for n, mode in hooks.modes().items() if mode != "contribute"))

    async def prompt(self, session: Session, system: str = "") -> Prompt:
        """The system prompt a session starts with. ``system`` is what its caller adds."""
        from hermes_core.agent.prompt import build_prompt

        config = self.settings.config
        identity, window = config.agent.identity, config.model.context_length
        prompt = await build_prompt(session, self.memory(session), identity=identity, window=window)
        if system:
            said = PromptBlock(name="caller", text=system, tier="context")
            prompt = evolve(prompt, blocks=(*prompt.blocks, said))
        tools = {name: tool.toolset for name, tool in self.toolbox().offered(session).items()}
        return await self.dispatch.transform("transform_prompt", "prompt", evolve(prompt, tools=tools), session=session)

    def report(self, tool: Tool, error: BaseException) -> None:
        """A tool raised something that is not a ToolError, or reached for too much: its author should know."""
        self.dispatch.failed(self.toolbox().owner(tool), tool.name, error)

    async def close(self) -> None:
        """Let go of the provider and the store."""
        if self.dispatch.faults:
            from hermes_core.plugins.fault_cache import keep_faults

            keep_faults(self.home.cache / "faults.json", self.dispatch.faults)
        routes = (self.route, *self._routes.values())
        for provider in {id(route.provider): route.provider for route in routes if route}.values():
            await provider.close()
        await self.router.close()
        await self.dispatch.settle()
        if self._store is not None:
            store, self._store = self._store, None
            with contextlib.suppress(HermesError):  # that it could not be opened was said when it was needed
                (await store).close()
