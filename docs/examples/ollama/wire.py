"""Ollama by its own protocol: a JSON object a line. What it takes to write a wire on the library of providers."""

from collections.abc import Sequence
from typing import Any

from hermes_core import Provider
from hermes_core.errors import ProviderError
from hermes_core.types import CallDelta, Done, Endpoint, Model, Usage, UsageDelta
from hermes_provider_kit.exchange import json_lines, posted
from hermes_provider_kit.failures import broken_off
from hermes_provider_kit.listing import fetch_json
from ollama.service import Service, line_of
from ollama.words import deltas, messages, tools


class Native(Provider):
    """Ollama's ``/api/chat``, see https://github.com/ollama/ollama/blob/main/docs/api.md."""

    name = Service.name
    priority = 60  # the one that speaks OpenAI's protocol comes first

    def __init__(self, secrets: Any, said: Endpoint | None = None) -> None:
        self._secrets = secrets
        self._line = line_of(secrets, said or Endpoint(name=self.name))

    def at(self, endpoint: Endpoint) -> "Native":
        return Native(self._secrets, endpoint)

    async def models(self) -> Sequence[Model]:
        line = self._line
        service, url = line.service, f"{line.service.url}/api/tags"
        found = await fetch_json(line.client(), url, headers=line.headers_with(), service=service, seconds=10)
        return [Model(name=one["name"]) for one in found["models"]]

    async def ready(self) -> bool:
        try:
            return bool(await self.models())
        except ProviderError:
            return False

    async def stream(self, request):
        line, model = self._line, request.model or (await self.models())[0].name
        body = {"model": model, "messages": messages(request.messages), "tools": tools(request.tools)}
        url, calls = f"{line.service.url}/api/chat", 0
        async with posted(line, url, body | line.extra_body, model=model, headers=line.headers_with()) as pieces:
            async for event in json_lines(line, pieces):
                if "error" in event:
                    raise broken_off(event, service=line.about(model))
                for delta in deltas(event.get("message") or {}, calls):
                    calls += isinstance(delta, CallDelta)
                    yield delta
                if event.get("done"):
                    yield UsageDelta(usage=Usage(input=event["prompt_eval_count"], output=event["eval_count"], calls=1))
                    why = "tools" if calls else "length" if event.get("done_reason") == "length" else "stop"
                    yield Done(reason=why)
                    return
        raise broken_off({"error": "the reply ended in the middle"}, service=line.about(model))

    async def close(self) -> None:
        await self._line.close()
