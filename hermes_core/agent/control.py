"""What plugins may ask of a whole kernel: who answers and what they are sent, what its plugins add."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hermes_core.agent.kernel import Kernel
from hermes_core.control import ModelsBroker, PluginsBroker
from hermes_core.errors import ContractError, HermesError, PluginError, UnknownName
from hermes_core.plugins.fence import fenced
from hermes_core.plugins.index import Installed, load_index
from hermes_core.records import Record
from hermes_core.types import (
    JSON,
    ASGIApp,
    BackendRow,
    KeyRow,
    Message,
    Model,
    ModelRow,
    PluginRow,
    PromptBlock,
    ProviderRow,
    Request,
    RouteRow,
    Routes,
    Session,
    Text,
    ToolRow,
)

__all__ = ["Models", "Plugins"]

_PATIENCE = 10.0  # seconds that a backend has to say whether it could work


class Models(ModelsBroker):
    """The models of one kernel. ``origin`` is where a conversation would begin."""

    def __init__(self, runtime: Kernel, origin: str) -> None:
        self._runtime, self._origin = runtime, origin

    async def providers(self) -> Sequence[ProviderRow]:
        from hermes_core.agent.route.catalogue import provider_rows

        return await provider_rows(self._runtime)

    async def list(self, provider: str = "") -> Sequence[ModelRow]:
        from hermes_core.agent.route.catalogue import model_rows

        return await model_rows(self._runtime, provider)

    async def current(self) -> ModelRow:
        route = await self._runtime.routes.get()
        return ModelRow(provider=route.name, model=Model(name=route.model), notice=route.notice)

    async def keys(self, provider: str = "", *, reset: str = "") -> Sequence[KeyRow]:
        settings = self._runtime.settings
        several = settings.config.providers
        if provider and provider not in several:
            raise UnknownName("provider", provider, several, hint="Several keys are set with providers.NAME.keys.")
        given = {name: settings.keys(name) for name in several if several[name].keys and provider in ("", name)}
        return await self._runtime.models.router.keys(given, reset=reset)

    async def opening(self, message: Message) -> tuple[Sequence[PromptBlock], Request]:
        from hermes_core.agent.offering import offered
        from hermes_core.agent.prompt import ordered, prompt_text

        session = (await self._runtime.sessions.take("", self._origin, self._runtime.owner)).session
        prompt, route = await self._runtime.prompt(session), await self._runtime.routes.get()
        told = Message(role="system", parts=(Text(text=prompt_text(prompt)),))
        tools, options = (await offered(self._runtime, session)).tools, self._runtime.routes.options()
        request = Request(model=route.model, messages=(told, message), tools=tools, options=options)
        return [block for block in ordered(prompt.blocks) if block.text], request

    async def body(self, request: Request) -> bytes:
        return await (await self._runtime.routes.get()).provider.body(request)


class Plugins(PluginsBroker):
    """The plugins of one kernel."""

    def __init__(self, runtime: Kernel) -> None:
        self._runtime = runtime

    def list(self) -> Sequence[PluginRow]:
        return [self._row(one) for one in self._runtime.index.plugins]

    def find(self, words: str) -> PluginRow:
        return self._row(self._runtime.index.resolve(words))

    def _row(self, one: Installed) -> PluginRow:
        runtime = self._runtime
        return PluginRow(
            label=one.label,
            version=one.version,
            loaded=one.label in runtime.loader.loaded,
            faults=tuple(fault for fault in runtime.dispatch.faults if fault.plugin == one.label),
            enabled=runtime.consent.state(one).usable,
            distribution=one.distribution,
            path=one.path,
            contributes=one.manifest.contributes if one.manifest else {},
        )

    def wanted(self) -> Mapping[str, Mapping[str, JSON]]:
        return self._runtime.consent.wanted()

    def note(self, distribution: str, request: Mapping[str, JSON]) -> None:
        self._runtime.consent.remember_request(distribution, request)

    def forget(self, distribution: str) -> None:
        self._runtime.consent.forget(distribution)

    def rescan(self) -> int:
        home, first = self._runtime.home, self._runtime.consent.preferred()
        return len(load_index(home.cache / "plugins.json", home.plugins, rescan=True, first=first).plugins)

    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        from hermes_core.agent.offering import tool_rows

        runtime = self._runtime
        agent = runtime.settings.config.agent
        off = {*agent.disabled_tools, *agent.disabled_on.get(platform, ())}
        runtime.load_hooks()
        cwd = runtime.sessions.folder("", runtime.owner)
        begun = Session(id="", origin=platform or "cli", owner=runtime.owner, cwd=cwd)
        return await tool_rows(runtime, begun, runtime.toolbox().every(begun), off)

    async def backends(self) -> Sequence[BackendRow]:
        self._runtime.loader.load_contributing("backends")
        found, shielded = self._runtime.dispatch.contributions("register_backends"), self._runtime.dispatch.shielded
        states = await asyncio.gather(*(shielded(label, "ready", one.ready, _PATIENCE) for label, one in found))
        return [
            BackendRow(name=one.name, plugin=label, ready=state is True, features=one.features, wall=one.wall)
            for (label, one), state in zip(found, states, strict=True)
        ]

    def offered(self, table: str) -> Sequence[str]:
        return sorted(self._runtime.index.offered(table))

    def records(self, table: str) -> Sequence[Record]:
        enabled = (one.manifest for one in self._runtime.index.plugins if self._runtime.consent.state(one).usable)
        return [record for one in enabled if one for record in one.records(table).values()]

    def routes(self) -> Sequence[RouteRow]:
        self._runtime.loader.load_contributing("routes")
        return [self._route(label, one) for label, one in self._runtime.dispatch.contributions("register_routes")]

    def _route(self, label: str, routes: Routes) -> RouteRow:
        installed, app = self._runtime.index.get(label), routes.app
        public = bool(installed and installed.manifest and routes.name in installed.manifest.public)
        served = app if isinstance(app, Path) else partial(self._served, label, f"register_routes: {routes.name}", app)
        return RouteRow(plugin=label, path=f"/{label}/{routes.name}", app=served, public=public)

    async def _served(self, label: str, where: str, app: ASGIApp, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request. Raises HermesError; PluginError for a plugin that fails, unless its client had left."""
        left = whole = False

        async def hears() -> Any:
            nonlocal left
            message = await receive()
            left = left or message["type"] == "http.disconnect"
            return message

        async def says(message: Any) -> None:
            nonlocal whole
            await send(message)
            whole = message["type"] == "http.response.body" and not message.get("more_body", False)

        async def answer() -> None:
            await app(scope, hears, says)
            if not (left or whole) and scope["type"] == "http":
                raise ContractError(label, "gave no whole answer")

        dispatch = self._runtime.dispatch
        _, error = await fenced(answer, dispatch.entered(label, where))
        if isinstance(error, HermesError) and not isinstance(error, PluginError):
            raise error
        if error and not left:
            dispatch.failed(label, where, error)
            raise PluginError(label, "could not answer a request")
