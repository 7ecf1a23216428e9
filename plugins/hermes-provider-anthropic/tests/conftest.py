"""A model service of this machine, what it replies, and providers of the catalogue that talk to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.model_service import FakeSecrets, ModelService, http, model_service
from hermes_core.testing.protocol_replies import Said, events_of
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
from hermes_provider_anthropic.provider import Messages, all_providers


def events(*found: dict[str, object]) -> str:
    """Events as the protocol writes them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in found)


def sse(*found: dict[str, object]) -> bytes:
    """A whole streamed reply of these events."""
    return http(200, events(*found), "text/event-stream")


def begin(**usage: int) -> dict[str, object]:
    """The first event."""
    [first, *_] = events_of("messages", Said(pieces=("x",)))
    message: dict[str, Any] = first["message"]
    return {**first, "message": {**message, "usage": {**message["usage"], **usage}}}


def block(index: int, start: dict[str, object], *deltas: dict[str, object]) -> list[dict[str, object]]:
    """The events of one block; the service gives a sign of life in the first."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *([] if index else [{"type": "ping"}]),
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[dict[str, object]]:
    """The events of a block of text."""
    start = {"type": "text", "text": "", "citations": None}
    return block(index, start, *({"type": "text_delta", "text": p} for p in pieces))


def thought(index: int, words: str, signature: str) -> list[dict[str, object]]:
    """The events of a thinking block."""
    start = {"type": "thinking", "thinking": "", "signature": ""}
    spoken = [{"type": "thinking_delta", "thinking": words}] if words else []
    return block(index, start, *spoken, {"type": "signature_delta", "signature": signature})


def call(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, object]]:
    """The events of a tool call."""
    start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": p} for p in ("", *pieces)))


def finish(reason: str = "end_turn", **more: object) -> list[dict[str, object]]:
    """The last events."""
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    *_, last, end = events_of("messages", Said(pieces=("x",), usage={**Said().usage, "output": 5}))
    return [{**last, "delta": delta}, end]


class Heard:
    """A reply, put together so that replies cut in different places can be compared."""

    def __init__(self, deltas: list[Delta]) -> None:
        self.deltas = deltas
        self.text = "".join(d.text for d in deltas if isinstance(d, TextDelta))
        self.reasoning = "".join(d.text for d in deltas if isinstance(d, ReasoningDelta))
        self.kept: dict[str, object] = {}
        for delta in deltas:
            if isinstance(delta, ReasoningDelta):
                self.kept.update(delta.meta)
        self.calls = [(d.name, json.loads(d.arguments)) for d in deltas if isinstance(d, CallDelta)]
        self.ids = [d.id for d in deltas if isinstance(d, CallDelta)]
        self.usages = [d.usage for d in deltas if isinstance(d, UsageDelta)]
        self.done = [d for d in deltas if isinstance(d, Done)]

    def facts(self) -> dict[str, object]:
        usage = self.usages[-1]
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "calls": [list(found) for found in self.calls],
            "reason": self.done[-1].reason,
            "usage": [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning],
            "kept": self.kept,
        }


class Makers:
    """What replies are made of."""

    http = staticmethod(http)
    sse = staticmethod(sse)
    events = staticmethod(events)
    begin = staticmethod(begin)
    text = staticmethod(text)
    thought = staticmethod(thought)
    call = staticmethod(call)
    block = staticmethod(block)
    finish = staticmethod(finish)


@pytest.fixture
def heard() -> type[Heard]:
    return Heard


@pytest.fixture
def reply() -> type[Makers]:
    """Makers of replies: ``reply.sse(reply.begin(), *reply.text(0, "a"), *reply.finish())``."""
    return Makers


@pytest.fixture
def keys() -> type[FakeSecrets]:
    return FakeSecrets


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service."""
    async with model_service() as made:
        yield made


@pytest.fixture
def named() -> Callable[..., Messages]:
    """``named("minimax", KEY="…")``: a provider of the catalogue with these secrets."""

    def make(name: str = "anthropic", **secrets: str) -> Messages:
        found = next(p for p in all_providers(FakeSecrets(**secrets), {}) if p.name == name)
        assert isinstance(found, Messages)
        return found

    return make


@pytest.fixture
async def at(service: ModelService, named: Callable[..., Messages]) -> AsyncIterator[Callable[..., Messages]]:
    """``at("minimax", timeout=1)``: a provider of the catalogue, maybe ``called`` otherwise, at the test's server."""
    made: list[Messages] = []

    def bind(name: str = "anthropic", called: str = "", **fields: object) -> Messages:
        values: dict[str, object] = {"base_url": service.url, "api_key": "sk-ant-test-1234567890", **fields}
        made.append(named(name).at(Endpoint(name=called or name, **values)))  # type: ignore[arg-type]
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

    async def run(provider: Messages, request: Request = hello) -> Heard:
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
