"""An Ollama of this machine, what it replies, and a provider that talks to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from hermes_core.testing.model_service import FakeSecrets, ModelService, http, model_service
from hermes_core.types import Delta, Endpoint, Message, Request, Text
from hermes_provider_ollama.provider import Ollama

LAST = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}


def lines(*messages: dict[str, object], **last: object) -> bytes:
    """A reply as the service streams it: these messages, and the last line."""
    said = [{"model": "m", "message": {"role": "assistant", **one}, "done": False} for one in messages]
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, **LAST, **last}
    return "".join(json.dumps(one) + "\n" for one in [*said, end]).encode()


def shown(window: int = 8192, parameters: str = "", *can: str) -> bytes:
    """What is told of a model."""
    info = {"general.architecture": "x", "x.context_length": window}
    capabilities = ["completion", *(can or ("tools", "vision", "thinking"))]
    return http(200, json.dumps({"model_info": info, "parameters": parameters, "capabilities": capabilities}))


class Makers:
    """What replies are made of."""

    http = staticmethod(http)
    lines = staticmethod(lines)
    shown = staticmethod(shown)

    @staticmethod
    def said(*messages: dict[str, object], **last: object) -> bytes:
        return http(200, lines(*messages, **last), "application/x-ndjson")


@pytest.fixture
def reply() -> type[Makers]:
    """Makers of replies: ``reply.said({"content": "a"})``."""
    return Makers


@pytest.fixture
def keys() -> type[FakeSecrets]:
    return FakeSecrets


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service that has one model, ``tiny``."""
    async with model_service() as made:
        made.by_path["/api/tags"] = http(200, json.dumps({"models": [{"name": "tiny", "size": 1}]}))
        made.by_path["/api/show"] = shown()
        yield made


@pytest.fixture
async def at(service: ModelService) -> AsyncIterator[Callable[..., Ollama]]:
    """``at(context=4096)``: the provider at the test's server."""
    made: list[Ollama] = []

    def bind(**fields: object) -> Ollama:
        values: dict[str, object] = {"name": "ollama", "base_url": service.url, **fields}
        made.append(Ollama(FakeSecrets()).at(Endpoint(**values)))  # type: ignore[arg-type]
        return made[-1]

    yield bind
    for provider in made:
        await provider.close()


@pytest.fixture
def hello() -> Request:
    return Request(model="tiny", messages=(Message(role="user", parts=(Text(text="hello"),)),))


@pytest.fixture
def ask(hello: Request) -> Callable[..., Awaitable[list[Delta]]]:
    """``await ask(provider, request)``: the whole reply."""

    async def run(provider: Ollama, request: Request = hello) -> list[Delta]:
        async with asyncio.timeout(30):
            return [delta async for delta in provider.stream(request)]

    return run
