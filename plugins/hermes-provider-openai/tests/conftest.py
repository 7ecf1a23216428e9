"""A model service of this machine, and providers of the catalogue that talk to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from hermes_core.testing.model_service import FakeSecrets, ModelService, http, model_service
from hermes_core.testing.protocol_replies import Said, events_of, stream_of
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
from hermes_provider_openai.provider import Compatible, all_providers


def sse(body: bytes | str) -> bytes:
    """A whole streamed reply."""
    return http(200, body, "text/event-stream")


class Heard:
    """A reply, put together so that replies cut in different places can be compared."""

    def __init__(self, deltas: list[Delta]) -> None:
        self.deltas = deltas
        self.text = "".join(d.text for d in deltas if isinstance(d, TextDelta))
        self.reasoning = "".join(d.text for d in deltas if isinstance(d, ReasoningDelta))
        self.calls = [(d.name, json.loads(d.arguments)) for d in deltas if isinstance(d, CallDelta)]
        self.ids = [d.id for d in deltas if isinstance(d, CallDelta)]
        self.usages = [d.usage for d in deltas if isinstance(d, UsageDelta)]
        self.done = [d for d in deltas if isinstance(d, Done)]

    def facts(self) -> dict[str, object]:
        usage = self.usages[-1]
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "calls": [list(call) for call in self.calls],
            "reason": self.done[-1].reason,
            "usage": [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning],
        }


@pytest.fixture
def heard() -> type[Heard]:
    return Heard


@pytest.fixture
def reply() -> object:
    """Makers of HTTP replies: ``reply.http``, ``reply.sse``, and ``reply.said("chat", Said(…))`` as OpenAI sends it."""

    class Makers:
        http = staticmethod(http)
        sse = staticmethod(sse)

        @staticmethod
        def said(protocol: str, said: Said, **options: bool) -> bytes:
            return sse(stream_of(protocol, events_of(protocol, said, **options)))

    return Makers


@pytest.fixture
def keys() -> type[FakeSecrets]:
    return FakeSecrets


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service."""
    async with model_service("/v1") as made:
        yield made


@pytest.fixture
def named() -> Callable[..., Compatible]:
    """``named("openrouter", KEY="…")``: a provider of the catalogue with these secrets."""

    def make(name: str, **secrets: str) -> Compatible:
        found = next(p for p in all_providers(FakeSecrets(**secrets), {}) if p.name == name)
        assert isinstance(found, Compatible)
        return found

    return make


@pytest.fixture
async def at(service: ModelService, named: Callable[..., Compatible]) -> AsyncIterator[Callable[..., Compatible]]:
    """``at("custom", timeout=1)``: a provider of the catalogue that talks to the test's server."""
    made: list[Compatible] = []

    def bind(name: str = "custom", **fields: object) -> Compatible:
        values: dict[str, object] = {"base_url": service.url, "api_key": "sk-test-1234567890", **fields}
        made.append(named(name).at(Endpoint(name=name, **values)))  # type: ignore[arg-type]
        return made[-1]

    yield bind
    for provider in made:
        await provider.close()


@pytest.fixture
def hello() -> Request:
    return Request(model="m", messages=(Message(role="user", parts=(Text(text="hello"),)),))


@pytest.fixture
def ask(hello: Request) -> Callable[..., Awaitable[Heard]]:
    """``await ask(provider, request)``: the whole reply."""

    async def run(provider: Compatible, request: Request = hello) -> Heard:
        async with asyncio.timeout(30):
            return Heard([delta async for delta in provider.stream(request)])

    return run


@pytest.fixture
def cassettes() -> dict[str, tuple[bytes, dict[str, object]]]:
    """Recorded shapes by name: the bytes of the stream, and what must come out."""
    folder = Path(__file__).with_name("cassettes")
    return {
        file.stem: (file.read_bytes(), json.loads(file.with_suffix(".json").read_text()))
        for file in sorted(folder.glob("*.sse"))
    }
