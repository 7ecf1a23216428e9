"""A model service on this machine for tests of providers: it answers what a test tells it to, and refuses what the
real ones refuse."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from attrs import field

from hermes_core.brokers import SecretsBroker
from hermes_core.testing.protocol_replies import error_of
from hermes_core.testing.protocol_rules import protocol_of, refusal_of
from hermes_core.values import define

__all__ = ["Asked", "FakeSecrets", "ModelService", "Reply", "http", "model_service"]

Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[bool | None]]


def http(status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> bytes:
    """A whole HTTP reply."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


class FakeSecrets(SecretsBroker):
    """Secrets from a mapping: ``FakeSecrets(ACME_API_KEY="sk-…")``."""

    def __init__(self, **values: str) -> None:
        self.values = values

    def get(self, name: str) -> str:
        """The secret, or nothing."""
        return self.values.get(name, "")

    def resolve(self, value: str) -> str:
        """The secret that ``env:NAME`` stands for; any other value as it is."""
        return self.get(value[4:]) if value.startswith("env:") else value


@define
class Asked:
    """One request the service got."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of it."""
        found: dict[str, Any] = json.loads(self.raw)
        return found


@define
class ModelService:
    """``script`` is played once, one answer a request; then ``always``. ``asked`` keeps the requests.

    A request that its service would refuse is refused in the service's words, and listed in ``refused``; that list
    is empty at the end of a test, unless the test empties it.
    """

    url: str = ""
    always: Reply = field(factory=lambda: http(500, "{}"))
    script: list[Reply] = field(factory=list)
    by_path: dict[str, Reply] = field(factory=dict)
    asked: list[Asked] = field(factory=list)
    refused: list[str] = field(factory=list)
    connections: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
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
        """Answer; whether the connection ends with it."""
        answer = self._refusal(asked) or self.by_path.get(asked.path.partition("?")[0])
        if answer is None:
            answer = self.script.pop(0) if self.script else self.always
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return b"content-length" not in answer
        return await answer(writer) is not True  # one that returns True keeps the connection

    def _refusal(self, asked: Asked) -> bytes | None:
        protocol = protocol_of(asked.path) if asked.method == "POST" else ""
        if not protocol or (refusal := refusal_of(protocol, asked.body)) is None:
            return None
        self.refused.append(refusal.message)
        status, body, headers = error_of(protocol, refusal)
        return http(status, json.dumps(body), **headers)


@asynccontextmanager
async def model_service(base: str = "") -> AsyncIterator[ModelService]:
    """A running service; ``base`` is the path that its addresses begin with."""
    made = ModelService()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0, limit=2**26)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{base}"
    yield made
    server.close()
    assert not made.refused, f"the service refused: {made.refused}"
