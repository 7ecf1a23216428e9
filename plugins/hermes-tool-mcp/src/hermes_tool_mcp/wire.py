"""The pipes of a started server as the protocol wants them: a line a message, whatever the server writes."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_core.kinds import Process

__all__ = ["Lines", "spoken"]

_LONGEST = 64_000_000  # bytes of one message
_WAITING = 10_000  # messages that wait to be read


class Lines:
    """Bytes in, whole lines out. What never ends a line is cut off from speaking."""

    def __init__(self, longest: int = _LONGEST) -> None:
        self._begun, self._longest = bytearray(), longest

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that have ended. Raises ValueError for one that is too long."""
        *ended, rest = data.split(b"\n")
        if ended:
            ended[0] = bytes(self._begun) + ended[0]
            self._begun.clear()
        self._begun += rest
        if len(self._begun) > self._longest or any(len(one) > self._longest for one in ended):
            raise ValueError(f"it wrote a line of more than {self._longest:,} bytes")
        return [one for one in ended if one.strip()]


class Heard:
    """What came from a server: read as messages, until it ends. ``ended`` is told why, once."""

    def __init__(self, ended: Callable[[str], None]) -> None:
        import anyio

        self.into, self.out = anyio.create_memory_object_stream[Any](_WAITING)
        self._lines, self._ended = Lines(), ended

    def take(self, data: bytes) -> None:
        """Take what it wrote. What is no message is told as an error, and the rest is read on."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        try:
            for line in self._lines.feed(data):
                try:
                    self.into.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
                except ValueError as error:
                    self.into.send_nowait(_mended(line) or error)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody reads any more
        except (anyio.WouldBlock, ValueError) as error:
            self.over(str(error) or "it wrote faster than anybody can read")

    def over(self, why: str) -> None:
        """Say that nothing more comes."""
        self.into.close()
        self._ended(why)


def _mended(line: bytes) -> Any:
    """Return a message of what is none to the letter; None where nothing can be made of it.

    Servers cut texts in the middle of an emoji. An answer that stays unreadable is one all the same: that it cannot be
    read, or whoever asked would wait for it in vain.
    """
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        said = json.loads(line)
        plain = json.loads(json.dumps(said, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    number = said.get("id") if isinstance(said, dict) and "method" not in said else None
    refused = {"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": "its answer cannot be read"}}
    for one in (plain, *([refused] if isinstance(number, int | str) else [])):
        with suppress(ValueError, RecursionError):
            return SessionMessage(jsonrpc_message_adapter.validate_python(one, by_name=False))
    return None


@asynccontextmanager
async def spoken(process: "Process", heard: Heard) -> AsyncIterator[tuple[Any, Any]]:
    """Open the two streams of a started server: what it says, and what it is told."""
    import anyio

    from hermes_core.errors import ToolError

    into, out = anyio.create_memory_object_stream[Any](0)

    async def write() -> None:
        async with out:
            async for one in out:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await process.write(text.encode() + b"\n")
                except ToolError as error:
                    heard.over(error.text)
                    return

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        try:
            yield heard.out, into
        finally:
            group.cancel_scope.cancel()
            for stream in (into, out, heard.into, heard.out):
                stream.close()
