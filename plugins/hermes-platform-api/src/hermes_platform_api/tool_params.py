"""The tools that a client sends with a request, in the words of each protocol."""

from collections.abc import Iterable, Mapping, Sequence
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
    """Those that the model may call."""
    found = [_tool(one, one.get(schema)) for one in given]
    names = [one.name for one in found]
    if twice := next((name for n, name in enumerate(names) if name in names[:n]), ""):
        raise ApiError(400, "duplicate_tool", f"There are two tools named {twice}.", param="tools")
    choice = body.get("tool_choice")
    choice = choice if isinstance(choice, dict) else {"type": choice}
    allowed = _named(choice)
    if strange := next((name for name in allowed if name not in names), ""):
        raise ApiError(400, "unknown_tool", f"There is no tool named {strange}.", param="tool_choice")
    found = [one for one in found if not allowed or one.name in allowed]
    if not found or choice["type"] == "none":
        return None
    parallel = body.get("parallel_tool_calls") is not False and not choice.get("disable_parallel_tool_use")
    return ClientTools(tools=found, parallel=parallel, prefix=prefix, hint=_hint(choice, found))


def _named(choice: _Given) -> list[str]:
    """The names of the tools that a choice leaves; none where it leaves all."""
    within = choice.get("allowed_tools", choice)
    chosen = within.get("tools", ()) if choice["type"] == "allowed_tools" else [choice]
    found = [one.get("name") or one.get("function", {}).get("name") for one in chosen]
    return [name for name in found if isinstance(name, str)]


def _hint(choice: _Given, found: Sequence[ClientTool]) -> str:
    """What a model is told that is to call a tool. Nothing forces it: it decides."""
    mode = choice.get("mode") or choice.get("allowed_tools", {}).get("mode")
    if choice["type"] not in ("required", "any", "function", "tool") and mode != "required":
        return ""
    return f"(Answer this by a call of {' or '.join(one.offered for one in found)}.)"


def _tool(one: _Given, schema: _Given | None) -> ClientTool:
    whole = {"type": "object", "properties": {}, **(schema or {})}
    return ClientTool(name=one["name"], description=one.get("description") or "", schema=whole)
