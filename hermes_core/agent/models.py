"""What plugins may ask of models: who answers, and what they are sent."""

from collections.abc import Sequence

from hermes_core.agent.runtime import Runtime
from hermes_core.control import ModelsBroker
from hermes_core.plugins.index import Installed
from hermes_core.types import Message, PromptBlock, Request, Text

__all__ = ["Models"]


class Models(ModelsBroker):
    """The models of one kernel, for one plugin."""

    def __init__(self, runtime: Runtime, installed: Installed) -> None:
        self._runtime, self._installed = runtime, installed

    def _require(self) -> None:
        self._installed.require("permissions", "kernel", "llm.call", "looked at your models")

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
