"""What a server says, without the tools in it that nobody can use: one of them costs no other.

A list with one tool of the wrong shape is refused as a whole by whoever reads it. So it is looked through before.
"""

import json
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

__all__ = ["Sifted", "unfit"]

_LARGEST = 200_000  # characters of one schema
_NAME = 300


class Sifted:
    """A stream of messages in which each list of tools is looked through; ``left`` gets what is taken out, and why."""

    def __init__(self, stream: Any, left: dict[str, str]) -> None:
        self._stream, self._left = stream, left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        """Return the next message."""
        return self._sifted(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._sifted(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(kind, error, trace)
        return ended

    def _sifted(self, item: Any) -> Any:
        result = getattr(getattr(item, "message", None), "result", None)
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(tools, list):
            return item
        kept: list[Any] = []
        for place, tool in enumerate(tools, 1):
            if why := unfit(tool):
                name = tool.get("name") if isinstance(tool, dict) else None
                self._left[name[:_NAME] if isinstance(name, str) and name else f"(number {place})"] = why
            else:
                kept.append(tool)
        tools[:] = kept
        return item


def unfit(tool: Any) -> str:
    """Say why nobody can use a tool, in a line; empty for one that is sound."""
    from mcp_types import Tool

    if not isinstance(tool, dict):
        return "it is no object"
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return "it has no inputSchema"
    if schema.get("type") != "object":
        return "its inputSchema is none of an object"
    try:
        if len(text := json.dumps(schema)) > _LARGEST:
            return f"its inputSchema has more than {_LARGEST:,} characters"
        if why := _no_schema(text):
            return why
        Tool.model_validate(tool, by_name=False)
    except RecursionError:
        return "its inputSchema is nested too deeply"
    except ValueError as error:  # a line with their number, then each with where and what
        return "it is of the wrong shape: " + " ".join(" ".join(str(error).splitlines()[1:3]).split())[:200]
    return ""


@lru_cache(maxsize=4_000)  # servers are asked again and again, and say the same
def _no_schema(text: str) -> str:
    found = _judge().iter_errors(json.loads(text))
    error = next(iter(found), None)
    return f"its inputSchema is no JSON Schema: {' '.join(error.message.split())[:200]}" if error else ""


@lru_cache(maxsize=1)
def _judge() -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)
