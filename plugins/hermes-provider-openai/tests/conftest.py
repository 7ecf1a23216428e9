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
from hermes_provider_openai.provider import Compatible, all_providers

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[bool | None]]


def http(status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> bytes:
    """A whole HTTP reply."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def sse(body: bytes | str) -> bytes:
    """A whole streamed reply."""
    return http(200, body, "text/event-stream")


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
        answer = self.by_path.get(asked.path)
        if answer is None:
            answer = self.script.pop(0) if self.script else self.always
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return b"content-length" not in answer
        return await answer(writer) is not True  # one that returns True keeps the connection


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
    """Makers of HTTP replies: ``reply.http`` and ``reply.sse``."""

    class Makers:
        http = staticmethod(http)
        sse = staticmethod(sse)

    return Makers


@pytest.fixture
def keys() -> type[Keys]:
    return Keys


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """A running server."""
    made = Service()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield made
    server.close()


@pytest.fixture
def named() -> Callable[..., Compatible]:
    """``named("openrouter", KEY="…")``: a provider of the catalogue with these secrets."""

    def make(name: str, **secrets: str) -> Compatible:
        found = next(p for p in all_providers(Keys(**secrets), {}) if p.name == name)
        assert isinstance(found, Compatible)
        return found

    return make


@pytest.fixture
async def at(service: Service, named: Callable[..., Compatible]) -> AsyncIterator[Callable[..., Compatible]]:
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
