"""What a kernel is made of but its turns: settings, plugins, store, tools, models. Parts are made when first needed."""

import asyncio
import contextlib
import gc
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from attrs import evolve

from hermes_core import hooks, notices
from hermes_core.agent.opening import address_of, driver_for, mailbox_of, mended, purses_of, roles_of
from hermes_core.agent.policy.guarded import guarded_paths, read_only, readable
from hermes_core.agent.policy.guests import Guests
from hermes_core.agent.remembering import Remembering
from hermes_core.agent.route.calls import ModelCalls
from hermes_core.agent.route.routes import ModelRoutes
from hermes_core.agent.route.routing import Routing
from hermes_core.agent.workspaces import Workspaces
from hermes_core.brokers import Mailbox
from hermes_core.config.settings import Settings
from hermes_core.context import PluginContext
from hermes_core.environment import switched_on
from hermes_core.errors import HermesError
from hermes_core.kinds import Purse, Roles, StoreDriver, Tool
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.loader import Loader, config_sections
from hermes_core.plugins.maskers import find_maskers
from hermes_core.types import Principal, Prompt, PromptBlock, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.policy.judge import Policy
    from hermes_core.agent.toolbox import Toolbox
    from hermes_core.store.store import Store

__all__ = ["Runtime"]

_FIXED = {  # settings that a kernel is made from, once
    "logging", "plugins", "policy", "privacy", "quick_commands", "secrets", "security", "store", "toolsets",
    "workers",
}  # fmt: skip
_LAST = 1.5  # seconds that observers have at the end: a person waits for their prompt


class Runtime:
    """The parts of one kernel. Several may live in one process; nothing is global."""

    def __init__(
        self,
        settings: Settings,
        index: Index,
        consent: Consent,
        *,
        broker: Callable[[Any, str, Installed], object],
        owner: Principal,
        provider: str = "",
        model: str = "",
        toolsets: Sequence[str] = (),
        yolo: bool = False,
        tools: Sequence[Tool] = (),
        strict: bool = False,
        interfaces: Sequence[str] = (),
    ) -> None:
        """``broker`` makes a broker of a plugin's context, from this kernel, its name there and whose it is.

        ``owner`` is whose machine this is, and whose sessions these are where nobody says so.

        ``interfaces`` are the platforms on which they talk, by name, the one that is tried first in front.
        """
        self.settings = settings
        self.interfaces = interfaces
        self.home = settings.home
        self.index, self.consent = index, consent
        settings.require_claims(index.config_sections)
        self.owner, self._broker = owner, broker
        self.guests = Guests(
            host=owner,
            people=settings.home.root / "people",
            roles=self._find_roles,
            report=lambda error: self.dispatch.failed("roles", "rights", error),
        )
        self._roles: Roles | None = None
        self._own_tools = tuple(tools)
        trace = sys.stderr if switched_on("HERMES_TRACE_HOOKS") else None
        deadlines: dict[hooks.Mode, float] = {"ask": settings.config.policy.ask_seconds}
        masked = settings.masks.always
        self.dispatch = Dispatch(
            order=settings.config.plugins.order, strict=strict, trace=trace, deadlines=deadlines, masked=masked
        )
        self.loader = Loader(
            index,
            consent,
            self.dispatch,
            context=self.plugin_context,
            markers=self.home.cache / "crash_markers",
            strict=strict,
        )
        if settings.config.secrets.env or settings.config.secrets.bulk:
            from hermes_core.plugins.secret_sources import SecretSources

            settings.secrets.sources = SecretSources(settings, index, self.loader, self.dispatch)
        self.maskers = partial(find_maskers, index, consent, self.loader, self.dispatch)
        settings.masks.use(self.maskers)
        self.memory = Remembering(settings, index, self.loader, self.dispatch)
        self.models = Routing(settings, index, self.loader, self.dispatch)
        self.calls = ModelCalls(self.models)
        self.routes = ModelRoutes(settings, index, self.loader, self.dispatch, self.calls, self.store, owner=owner)
        self.choose(provider=provider, model=model, toolsets=toolsets, yolo=yolo)
        self.workspaces = Workspaces(settings, self.guests, self.loader, self.dispatch)
        self._toolbox: Toolbox | None = None
        self._store: asyncio.Task[Store] | None = None
        self._hooks_loaded = False

    def choose(self, *, provider: str = "", model: str = "", toolsets: Sequence[str] = (), yolo: bool = False) -> None:
        """Take over what is said for this run alone. It is said before anybody answered, or is not heard any more."""
        self.routes.wanted = provider, model
        self._toolsets, self._yolo = tuple(toolsets) or tuple(self.settings.config.toolsets), yolo

    @cached_property
    def policy(self) -> "Policy":
        """What may be done. A first screen does not need it, and it is the largest of the parts."""
        from hermes_core.agent.policy.judge import Policy
        from hermes_core.agent.policy.risks import own_code

        settings, rules = self.settings, self.settings.config.policy
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
            fixed="policy.mode" in settings.locked,
            guests=self.guests,
        )

    def mode(self, session_id: str) -> str:
        """Say what needs a yes in a session of the owner's."""
        return self.policy.mode(session_id) if "policy" in vars(self) else self.first_mode

    @property
    def first_mode(self) -> str:
        """What needs a yes, where nobody has said otherwise."""
        rules, fixed = self.settings.config.policy, "policy.mode" in self.settings.locked
        return "off" if self._yolo and not fixed else rules.mode

    def mailbox(self) -> Mailbox:
        """Find who sends to chats. Raises UserError when nobody does, or two plugins would."""
        return mailbox_of(self.loader, self.dispatch)

    def purses(self) -> Sequence[tuple[str, Purse]]:
        """Find who limits what is spent. Raises PluginError when one that should cannot."""
        return purses_of(self.index, self.consent, self.loader, self.dispatch)

    def _find_roles(self) -> Roles | None:
        """Find who says what people other than the owner may do. Raises PluginError when one that should cannot."""
        self._roles = self._roles or roles_of(self.index, self.consent, self.loader, self.dispatch)
        return self._roles

    @property
    def has_store(self) -> bool:
        """Whether the store is open."""
        return self._store is not None and self._store.done()

    async def store(self) -> "Store":
        """Return the open store. It is opened in a thread, so that a request that is under way is not held up."""
        if self._store is None or (self._store.done() and self._store.exception()):  # it may go well by now
            url = address_of(self.settings)
            driver = driver_for(url, self.index, self.loader, self.dispatch) if url else None
            self._store = asyncio.create_task(asyncio.to_thread(self._open_store, url, driver))
        return await asyncio.shield(self._store)

    def _open_store(self, url: str, driver: StoreDriver | None) -> "Store":
        from hermes_core.store.store import open_store

        durability = self.settings.config.store.durability
        return open_store(self.home.database, url=url, driver=driver, durability=durability, mend=self._mend)

    def _mend(self) -> bool:
        """Have a damaged store put right, and say so to whoever is there."""
        if (said := mended(self.loader, self.dispatch)) and not notices.tell(said):
            sys.stderr.write(f"{said}\n")
        return bool(said)

    def toolbox(self) -> "Toolbox":
        """Return the tools of all enabled tool plugins and of the embedding program."""
        if self._toolbox is None:
            from hermes_core.agent.toolbox import Toolbox

            self.loader.load_contributing("tools")
            self.loader.load_contributing("tool_sources")
            self._toolbox = Toolbox(
                (
                    *self.memory.tools(self.dispatch.contributions("register_tools")),
                    *(("this program", tool) for tool in self._own_tools),
                ),
                self.dispatch.contributions("register_tool_sources"),
                toolsets=(*self._toolsets, *(t.toolset for t in self._own_tools)) if self._toolsets else (),
                disabled=self.settings.config.agent.disabled_tools,
                off_on=self.settings.config.agent.disabled_on,
                own=self.loader.is_own,
                report=self.dispatch.failed,
            )
        return self._toolbox

    @cached_property
    def _shared(self) -> dict[str, Any]:
        """What the contexts of all plugins have alike."""
        skills = [
            (one.manifest.name, Path(one.path, folder))
            for one in self.index.plugins
            if one.manifest and one.manifest.contributes["skills"] and not one.fault
            if self.consent.state(one).usable
            for folder in one.manifest.contributes["skills"]
        ]
        guarded = guarded_paths(self.settings)
        return {"brokers": self.broker, "skills": skills, "guarded": guarded, "owner": self.owner}

    def plugin_context(self, installed: Installed) -> PluginContext:
        """Make what a plugin gets of this kernel. Raises ConfigError when its section of the settings is wrong."""
        return make_context(installed, self.settings, **self._shared)

    def broker(self, name: str, installed: Installed) -> object:
        """Make a broker of a plugin's context, by its name there."""
        return self._broker(self, name, installed)

    def _code(self) -> list[str]:
        """Say where the code lies that this process runs: its own package, its libraries, and those of the plugins."""
        libraries = (str(found) for folder in filter(None, sys.path) for found in Path(folder).glob("hermes_*"))
        plugins = (one.path for one in self.index.plugins if one.path[:1] == "/")
        return [str(Path(__file__).parents[1]), *libraries, *plugins]

    def config_sections(self) -> dict[str, type]:
        """Return the settings classes of enabled plugins, by the path of their section."""
        return config_sections(self.index, self.consent)

    def load_hooks(self) -> None:
        """Import the plugins that asked to be alive during sessions."""
        if not self._hooks_loaded:
            self._hooks_loaded = True
            self.loader.load_hooks(*(n for n, mode in hooks.modes().items() if mode != "contribute"))

    async def prompt(self, session: Session, system: str = "") -> Prompt:
        """Build the system prompt a session starts with. ``system`` is what its caller adds."""
        from hermes_core.agent.prompt import build_prompt

        config = self.settings.config
        identity, window = config.agent.identity, config.model.context_length
        prompt = build_prompt(session, await self.memory.brief(session), identity=identity, window=window)
        if system:
            said = PromptBlock(name="caller", text=system, tier="context")
            prompt = evolve(prompt, blocks=(*prompt.blocks, said))
        tools = {name: tool.toolset for name, tool in self.toolbox().offered(session).items()}
        return await self.dispatch.transform("transform_prompt", "prompt", evolve(prompt, tools=tools), session=session)

    def report(self, tool: Tool, error: BaseException) -> None:
        """Report a tool that raised what is not a ToolError, or reached for too much: its author should know."""
        self.dispatch.failed(self.toolbox().owner(tool), tool.name, error)

    def beside(self, settings: Settings) -> Self:
        """Make a kernel of the same plugins with other settings; whoever asks closes it."""
        return type(self)(settings, self.index, self.consent, broker=self._broker, owner=self.owner)

    def reread(self) -> Sequence[str]:
        """Take over what the settings say now; what of it needs a new start. Raises HermesError; then nothing is."""
        changed = self.settings.reread()
        self._toolbox = None
        if changed & {"model", "providers"}:
            self.routes.reconsider()
        return sorted(changed & _FIXED)

    async def warm(self) -> None:
        """Make now what every turn will need, for a process that serves many."""
        await self.store()
        self.load_hooks()
        self.toolbox()
        gc.collect()
        gc.freeze()  # what stays for good is not looked at again and again: that would hold up turns

    def keep_faults(self) -> None:
        """Put what failed where doctor finds it."""
        if self.dispatch.faults:
            from hermes_core.plugins.fault_cache import keep_faults

            keep_faults(self.home.cache / "faults.json", self.dispatch.faults)

    async def close(self) -> None:
        """Let go of providers and the store."""
        await self.routes.close()
        await self.dispatch.settle(_LAST)
        self.keep_faults()
        if self._store is not None:
            store, self._store = self._store, None
            with contextlib.suppress(HermesError):  # that it could not be opened was said when it was needed
                (await store).close()
