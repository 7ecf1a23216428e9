"""Ollama by its own protocol: a JSON object a line. What it takes to write a wire on the library of providers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_core import Provider
from hermes_core.errors import ProviderError
from hermes_core.types import (
    CallDelta,
    Done,
    Endpoint,
    Message,
    Model,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    UsageDelta,
)
from hermes_provider_kit.exchange import json_lines, posted
from hermes_provider_kit.failures import broken_off
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.listing import fetch_json
from hermes_provider_kit.transport import check_address


class Service:
    """What is known of it without asking."""

    name, title, aliases, env, signup = "ollama-native", "Ollama", (), (), ""
    base_url = "http://127.0.0.1:11434"


class Native(Provider):
    """Ollama's ``/api/chat``, see https://github.com/ollama/ollama/blob/main/docs/api.md."""

    name = Service.name
    priority = 60  # the one that speaks OpenAI's protocol comes first

    def __init__(self, secrets: Any, said: Endpoint | None = None) -> None:
        self._secrets, said = secrets, said or Endpoint(name=self.name)
        url = check_address(said.name, said.base_url or Service.base_url, endings=("/api",), example=Service.base_url)
        self._line = ServiceLine(**reached(Service(), said.name, secrets, said, url=url, local=True, usual_seconds=900))

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
        tools = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema}}
            for t in request.tools
        ]
        body = {"model": model, "messages": [*_messages(request.messages)], "tools": tools, **line.extra_body}
        url, calls = f"{line.service.url}/api/chat", 0
        async with posted(line, url, body, model=model, headers=line.headers_with()) as pieces:
            async for event in json_lines(line, pieces):
                if "error" in event:
                    raise broken_off(event, service=line.about(model))
                for delta in _deltas(event.get("message") or {}, calls):
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


def _messages(messages: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        for result in results:
            yield {"role": "tool", "tool_name": result.name, "content": _text(result.parts)}
        if not results:
            calls = [part for part in message.parts if isinstance(part, ToolCall)]
            called = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in calls]
            more = {"tool_calls": called} if called else {}
            yield {"role": message.role, "content": _text(message.parts), **more}


def _text(parts: Sequence[object]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _deltas(said: Mapping[str, Any], calls: int) -> Iterator[object]:
    if said.get("thinking"):
        yield ReasoningDelta(text=said["thinking"])
    if said.get("content"):
        yield TextDelta(text=said["content"])
    for at, call in enumerate(said.get("tool_calls") or (), calls):
        function = call["function"]
        yield CallDelta(index=at, id=f"call_{at}", name=function["name"], arguments=json.dumps(function["arguments"]))
