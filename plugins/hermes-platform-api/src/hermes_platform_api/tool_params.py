"""The tools that a client sends with a request, in the words of each protocol."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_platform_api.client_tools import ClientTool, ClientTools
from hermes_platform_api.errors import ApiError

__all__ = ["chat_tools", "message_tools", "response_tools"]

_Given = Mapping[str, Any]


def chat_tools(body: _Given) -> ClientTools | None:
    """Those of a chat completion. Raises ApiError."""
    return _tools(body, (one["function"] for one in body.get("tools") or ()), "parameters", "call_")


def response_tools(body: _Given) -> ClientTools | None:
    """Those of a response. Raises ApiError."""
    return _tools(body, body.get("tools") or (), "parameters", "call_")


def message_tools(body: _Given) -> ClientTools | None:
    """Those of Anthropic's API. Raises ApiError."""
    return _tools(body, body.get("tools") or (), "input_schema", "toolu_")


def _tools(body: _Given, given: Iterable[_Given], schema: str, prefix: str) -> ClientTools | None:
    """Those that the model may call. That it must call one cannot be had: it decides."""
    found = [_tool(one, one.get(schema)) for one in given]
    if twice := next((one.name for n, one in enumerate(found) if any(one.name == o.name for o in found[:n])), ""):
        raise ApiError(400, "duplicate_tool", f"There are two tools named {twice}.", param="tools")
    choice = body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if not found or kind == "none":
        return None
    one_by_one = isinstance(choice, dict) and choice.get("disable_parallel_tool_use")
    parallel = body.get("parallel_tool_calls") is not False and not one_by_one
    return ClientTools(tools=found, parallel=parallel, prefix=prefix)


def _tool(one: _Given, schema: _Given | None) -> ClientTool:
    whole = {"type": "object", "properties": {}, **(schema or {})}
    return ClientTool(name=one["name"], description=one.get("description") or "", schema=whole)
