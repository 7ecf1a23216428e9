"""Whether a model server listens on this machine: one small request by hand, without the HTTP library."""

import asyncio
from urllib.parse import urlsplit

__all__ = ["answers"]

SECONDS = 0.3
ENOUGH = 65536


async def answers(url: str) -> bool:
    """Tell whether an address gives a list of models, within 0.3 seconds."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        if not host:
            return False
        async with asyncio.timeout(SECONDS):
            head = await _ask(host, port, parts.path, secure=parts.scheme == "https")
    except (OSError, TimeoutError, ValueError):
        return False
    status, _, rest = head.partition(b"\r\n")
    if status[:5] != b"HTTP/" or b" 401" in status:
        return b" 401" in status  # it is there and wants a key
    return b" 200" in status and (b'"data"' in rest or b'"models"' in rest)


async def _ask(host: str, port: int, path: str, *, secure: bool) -> bytes:
    reader, writer = await asyncio.open_connection(host, port, ssl=secure or None)
    try:
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode("ascii", "replace")
        )
        head = b""
        while len(head) < ENOUGH and (piece := await reader.read(ENOUGH)):
            head += piece
            if b'"data"' in head or b'"models"' in head:
                break
        return head
    finally:
        writer.close()
