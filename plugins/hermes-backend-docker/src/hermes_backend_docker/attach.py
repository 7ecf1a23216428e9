"""Commands over the daemon's own connection: made, attached, read frame by frame, without a thread for each.

docker's client has blocking calls only, and a command that prints for an hour would hold a thread for an hour.
"""

import asyncio
import http.client
import io
import json
import ssl
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hermes_backend_docker.daemon import Address, connect

__all__ = ["Attached", "Refused", "attach", "inspect_exec"]

PIECE = 262_144  # bytes of one frame handed on at once
_BROKEN = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, http.client.HTTPException, ssl.SSLError)


class Refused(Exception):
    """The daemon did not do it; ``status`` is its HTTP status, 0 when it cannot be reached."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Attached:
    """The streams of a running command."""

    def __init__(self, exec_id: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.exec_id = exec_id
        self._reader = reader
        self._writer = writer

    async def frames(self, sink: Callable[[int, bytes], None]) -> None:
        """Hand on what it writes (1: output, 2: errors) until it ends, the daemon goes away, or it is closed."""
        with suppress(*_BROKEN):
            while True:
                stream, size = struct.unpack(">BxxxL", await self._reader.readexactly(8))
                while size:
                    data = await self._reader.read(min(size, PIECE))
                    if not data:
                        return
                    size -= len(data)
                    sink(stream, data)

    async def write(self, data: bytes) -> None:
        """Send to its input; quiet when nobody reads it any more."""
        with suppress(*_BROKEN):
            self._writer.write(data)
            await self._writer.drain()

    @property
    def over(self) -> bool:
        """Whether the other end is gone."""
        return self._reader.at_eof() or self._writer.is_closing()

    def close(self) -> None:
        """Let go. The command's input ends with it; the command itself does not."""
        self._writer.close()


async def attach(
    address: Address,
    version: str,
    container: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bool,
) -> Attached:
    """Start a command in a running container. Raises Refused."""
    body = {
        "AttachStdin": stdin,
        "AttachStdout": True,
        "AttachStderr": True,
        "Cmd": list(argv),
        "Env": [f"{name}={value}" for name, value in env.items()],
        "Privileged": False,
        "Tty": False,
    }
    made = await _ask(address, "POST", f"/v{version}/containers/{container}/exec", body)
    exec_id = made["Id"]
    try:
        reader, writer = await connect(address)
    except OSError as error:
        raise Refused(0, str(error)) from error
    try:
        request = _request("POST", f"/v{version}/exec/{exec_id}/start", {"Detach": False, "Tty": False}, upgrade=True)
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
        if status not in (101, 200):
            length = next((int(h[15:]) for h in head.splitlines() if h.lower().startswith(b"content-length:")), 0)
            raise Refused(status, _message(await reader.readexactly(min(length, PIECE))))
    except BaseException as error:
        writer.close()
        if isinstance(error, _BROKEN):
            raise Refused(0, str(error) or "the connection was closed") from error
        raise
    return Attached(exec_id, reader, writer)


async def inspect_exec(address: Address, version: str, exec_id: str) -> Mapping[str, Any]:
    """What the daemon knows about a command. Raises Refused."""
    return await _ask(address, "GET", f"/v{version}/exec/{exec_id}/json", None)


async def _ask(address: Address, method: str, path: str, body: Any) -> dict[str, Any]:
    try:
        reader, writer = await connect(address)
        try:
            writer.write(_request(method, path, body))
            data = await reader.read(-1)
        finally:
            writer.close()
        response = http.client.HTTPResponse(_Bytes(data))  # type: ignore[arg-type]
        response.begin()
        answer = response.read()
    except _BROKEN as error:
        raise Refused(0, str(error) or "the connection was closed") from error
    if response.status >= 300:
        raise Refused(response.status, _message(answer))
    found: dict[str, Any] = json.loads(answer)
    return found


def _request(method: str, path: str, body: Any, *, upgrade: bool = False) -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: docker", f"Content-Length: {len(data)}"]
    lines += ["Content-Type: application/json"] if data else []
    lines += ["Connection: Upgrade", "Upgrade: tcp"] if upgrade else ["Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def _message(answer: bytes) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(answer)["message"])
    return answer.decode(errors="replace").strip()


class _Bytes:
    """What http.client reads a response from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._data)
