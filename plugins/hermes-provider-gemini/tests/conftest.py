"""A model service of this machine, what it replies, and a provider that talks to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from hermes_core.testing.model_service import FakeSecrets, ModelService, http, model_service
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Endpoint,
    Message,
    ReasoningDelta,
    Request,
    Text,
    TextDelta,
    UsageDelta,
)
from hermes_provider_gemini.line import SERVICE
from hermes_provider_gemini.provider import Gemini

USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}


def piece(*parts: dict[str, object], reason: str = "", **more: object) -> dict[str, object]:
    """One event as the service writes it."""
    ended = {"finishReason": reason} if reason else {}
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **ended}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "m", "responseId": "r", **more}


def events(*found: dict[str, object]) -> bytes:
    """Events as the service writes them, with the line ends that it uses."""
    return b"".join(b"data: " + json.dumps(event).encode() + b"\r\n\r\n" for event in found)


class Heard:
    """A reply, put together so that replies cut in different places can be compared."""

    def __init__(self, deltas: list[Delta]) -> None:
        self.deltas = deltas
        self.text = "".join(d.text for d in deltas if isinstance(d, TextDelta))
        self.reasoning = "".join(d.text for d in deltas if isinstance(d, ReasoningDelta))
        self.kept = [d.meta for d in deltas if isinstance(d, ReasoningDelta) and d.meta]
        self.calls = [(d.name, json.loads(d.arguments), d.meta) for d in deltas if isinstance(d, CallDelta)]
        self.ids = [d.id for d in deltas if isinstance(d, CallDelta)]
        self.usage = [d.usage for d in deltas if isinstance(d, UsageDelta)][-1]
        self.done = [d.reason for d in deltas if isinstance(d, Done)]

    def facts(self) -> list[object]:
        return [self.text, self.reasoning, self.kept, self.calls, self.usage, self.done]


class Makers:
    """What replies are made of."""

    http = staticmethod(http)
    piece = staticmethod(piece)
    events = staticmethod(events)

    @staticmethod
    def sse(*found: dict[str, object]) -> bytes:
        return http(200, events(*found), "text/event-stream")


@pytest.fixture
def reply() -> type[Makers]:
    """Makers of replies: ``reply.sse(reply.piece({"text": "a"}, reason="STOP"))``."""
    return Makers


@pytest.fixture
def heard() -> type[Heard]:
    return Heard


@pytest.fixture
def keys() -> type[FakeSecrets]:
    return FakeSecrets


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service."""
    async with model_service() as made:
        yield made


@pytest.fixture
async def at(service: ModelService) -> AsyncIterator[Callable[..., Gemini]]:
    """``at(timeout=1)``: the provider at the test's server."""
    made: list[Gemini] = []

    def bind(**fields: object) -> Gemini:
        values: dict[str, object] = {"name": "gemini", "base_url": service.url, "api_key": "AIza-test-123", **fields}
        made.append(Gemini(SERVICE, FakeSecrets()).at(Endpoint(**values)))  # type: ignore[arg-type]
        return made[-1]

    yield bind
    for provider in made:
        await provider.close()


@pytest.fixture
def hello() -> Request:
    return Request(model="gemini-3-pro", messages=(Message(role="user", parts=(Text(text="hello"),)),))


@pytest.fixture
def ask(hello: Request) -> Callable[..., Awaitable[Heard]]:
    """``await ask(provider, request)``: the whole reply."""

    async def run(provider: Gemini, request: Request = hello) -> Heard:
        async with asyncio.timeout(30):
            return Heard([delta async for delta in provider.stream(request)])

    return run
