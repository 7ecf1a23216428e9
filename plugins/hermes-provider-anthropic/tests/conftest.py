"""A small HTTP server on plain asyncio streams that answers what a test tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from attrs import define, field

from hermes_core.context import SecretsBroker
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

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def http(status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> bytes:
    """A whole HTTP reply."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def events(*found: dict[str, object]) -> str:
    """Events as the wire writes them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in found)


def sse(*found: dict[str, object]) -> bytes:
    """A whole streamed reply of these events."""
    return http(200, events(*found), "text/event-stream")


def begin(**usage: int) -> dict[str, object]:
    """The first event."""
    counts = {"input_tokens": 9, "output_tokens": 1, **usage}
    return {
        "type": "message_start",
        "message": {"type": "message", "role": "assistant", "content": [], "usage": counts},
    }


def block(index: int, start: dict[str, object], *deltas: dict[str, object]) -> list[dict[str, object]]:
    """The events of one block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[dict[str, object]]:
    """The events of a block of text."""
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": p} for p in pieces))


def thought(index: int, words: str, signature: str) -> list[dict[str, object]]:
    """The events of a thinking block."""
    start = {"type": "thinking", "thinking": "", "signature": ""}
    spoken = [{"type": "thinking_delta", "thinking": words}] if words else []
    return block(index, start, *spoken, {"type": "signature_delta", "signature": signature})


def call(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, object]]:
    """The events of a tool call."""
    start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": p} for p in pieces))


def finish(reason: str = "end_turn", **more: object) -> list[dict[str, object]]:
    """The last events."""
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]


@define
class Asked:
    """One request the server got."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.raw)
        return found


@define
class Service:
    """``script`` is played once, one answer a request; then ``always``. ``asked`` keeps the requests."""

    url: str = ""
    always: Answer = field(factory=lambda: http(500, "{}"))
    script: list[Answer] = field(factory=list)
    by_path: dict[str, Answer] = field(factory=dict)
    asked: list[Asked] = field(factory=list)
    connections: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while asked := await self._read(reader):
                self.asked.append(asked)
                if await self._answer(asked, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        return Asked(method, path, headers, raw)

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        answer = self.by_path.get(asked.path.partition("?")[0])
        if answer is None:
            answer = self.script.pop(0) if self.script else self.always
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return b"content-length" not in answer
        await answer(writer)
        return True


class Keys(SecretsBroker):
    """Secrets from a mapping."""

    def __init__(self, **values: str) -> None:
        self.values = values

    def get(self, name: str) -> str:
        return self.values.get(name, "")

    def resolve(self, value: str) -> str:
        return self.get(value[4:]) if value.startswith("env:") else value


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
def keys() -> type[Keys]:
    return Keys


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """A running server."""
    made = Service()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()


@pytest.fixture
def named() -> Callable[..., Messages]:
    """``named("minimax", KEY="…")``: a provider of the catalogue with these secrets."""

    def make(name: str = "anthropic", **secrets: str) -> Messages:
        found = next(p for p in all_providers(Keys(**secrets), {}) if p.name == name)
        assert isinstance(found, Messages)
        return found

    return make


@pytest.fixture
async def at(service: Service, named: Callable[..., Messages]) -> AsyncIterator[Callable[..., Messages]]:
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
