"""What plugins may ask of a whole kernel: who answers and what they are sent, what its plugins add."""

from collections.abc import Sequence

from hermes_core.agent.runtime import Runtime
from hermes_core.control import ModelsBroker, PluginsBroker
from hermes_core.plugins.index import Installed
from hermes_core.types import (
    Message,
    ModelRow,
    PluginRow,
    PromptBlock,
    ProviderRow,
    Request,
    Session,
    Text,
    ToolRow,
)

__all__ = ["Models", "Plugins"]


class Models(ModelsBroker):
    """The models of one kernel, for one plugin."""

    def __init__(self, runtime: Runtime, installed: Installed) -> None:
        self._runtime, self._installed = runtime, installed

    def _require(self) -> None:
        self._installed.require("permissions", "kernel", "llm.call", "looked at your models")

    async def providers(self) -> Sequence[ProviderRow]:
        """See ModelsBroker."""
        from hermes_core.agent.route.catalogue import provider_rows

        self._require()
        return await provider_rows(self._runtime)

    async def list(self, provider: str = "") -> Sequence[ModelRow]:
        """See ModelsBroker."""
        from hermes_core.agent.route.catalogue import model_rows

        self._require()
        return await model_rows(self._runtime, provider)

    async def answering(self) -> tuple[str, str]:
        """See ModelsBroker."""
        self._require()
        route = await self._runtime.routed()
        return route.name, route.model

    async def opening(self, message: Message) -> tuple[Sequence[PromptBlock], Request]:
        """See ModelsBroker."""
        from hermes_core.agent.offering import offered
        from hermes_core.agent.prompt import ordered, prompt_text

        self._require()
        session = await self._runtime.take_up(origin=self._installed.label.partition("/")[2])
        prompt, route = await self._runtime.prompt(session), await self._runtime.routed()
        told = Message(role="system", parts=(Text(text=prompt_text(prompt)),))
        tools, options = (await offered(self._runtime, session)).tools, self._runtime.options()
        request = Request(model=route.model, messages=(told, message), tools=tools, options=options)
        return [block for block in ordered(prompt.blocks) if block.text], request

    async def body(self, request: Request) -> bytes:
        """See ModelsBroker."""
        self._require()
        return await (await self._runtime.routed()).provider.body(request)


class Plugins(PluginsBroker):
    """The plugins of one kernel."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def list(self) -> Sequence[PluginRow]:
        """See PluginsBroker."""
        loaded, faults = self._runtime.loader.loaded, self._runtime.dispatch.faults
        return [
            PluginRow(
                label=one.label,
                version=one.version,
                loaded=one.label in loaded,
                faults=tuple(fault for fault in faults if fault.plugin == one.label),
            )
            for one in self._runtime.index.plugins
        ]

    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        """See PluginsBroker."""
        from hermes_core.agent.offering import hidden

        runtime = self._runtime
        agent = runtime.settings.config.agent
        off = {*agent.disabled_tools, *agent.disabled_on.get(platform, ())}
        runtime.load_hooks()
        cwd = runtime.sessions.folder("", runtime.owner)
        begun = Session(id="", origin=platform or "cli", owner=runtime.owner, cwd=cwd)
        why = await hidden(runtime, begun)
        found = {tool.name: tool for _, tool in runtime.dispatch.contributions("register_tools")}
        return [
            ToolRow(
                name=one.name,
                toolset=one.toolset,
                description=one.description,
                effects=one.effects,
                off=one.name in off,
                hidden="" if one.name in off else why.get(one.name, ""),
            )
            for one in found.values()
        ]

    def platforms(self) -> Sequence[str]:
        """See PluginsBroker."""
        return sorted(self._runtime.index.offered("platforms") | {"oneshot", "embed"})
