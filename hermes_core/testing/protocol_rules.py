"""What model services refuse, and the words in which they do: the OpenAI protocols and Anthropic's Messages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from hermes_core.values import frozen

__all__ = ["Refusal", "protocol_of", "refusal_of"]

_NAME = "^[a-zA-Z0-9_-]+$"
_ROLES = {
    "chat": ("system", "assistant", "user", "function", "tool", "developer"),
    "responses": ("assistant", "system", "developer", "user"),
    "messages": ("user", "assistant"),
}
_KINDS: dict[type, str] = {
    bool: "a boolean", int: "an integer", float: "a decimal number", str: "a string", list: "an array",
    dict: "an object",
}  # fmt: skip
_ANTHROPIC = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "dictionary"}
_RANGES: Mapping[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2), "top_p": (float, 0, 1), "presence_penalty": (float, -2, 2),
    "frequency_penalty": (float, -2, 2), "n": (int, 1, 128), "max_tokens": (int, 1, 2**31),
    "max_completion_tokens": (int, 1, 2**31), "max_output_tokens": (int, 16, 2**31), "top_logprobs": (int, 0, 20),
    "seed": (int, -(2**63), 2**63), "stream": (bool, 0, 1), "store": (bool, 0, 1), "parallel_tool_calls": (bool, 0, 1),
}  # fmt: skip


@frozen
class Refusal:
    """One no: its status, its words, the parameter it is about, and the code, where the service gives one."""

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400


def protocol_of(path: str) -> str:
    """``chat``, ``responses`` or ``messages``, by the address that was asked; empty for every other."""
    ends = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
    return next((protocol for end, protocol in ends.items() if path.partition("?")[0].endswith(end)), "")


def refusal_of(protocol: str, body: Any) -> Refusal | None:
    """The first thing that the service of a protocol would mind about a request; None when it would answer."""
    if not isinstance(body, dict):
        return Refusal("We could not parse the JSON body of your request.")
    rules = {"chat": _chat, "responses": _responses, "messages": _messages}
    return next(chain(_fields(protocol, body), rules[protocol](body)), None)


def _fields(protocol: str, body: Mapping[str, Any]) -> Iterator[Refusal]:
    if not body.get("model"):
        yield Refusal("you must provide a model parameter") if protocol == "chat" else _missing(protocol, "model")
    elif not isinstance(body["model"], str):
        yield _type(protocol, "model", str)
    if protocol == "messages" and body.get("max_tokens") is None:
        yield _missing(protocol, "max_tokens")
    for name, (kind, least, most) in _RANGES.items():
        value: Any = body.get(name)
        if value is None:
            continue
        fits = isinstance(value, bool) is (kind is bool) and isinstance(value, (int, kind))
        if not fits:
            yield _type(protocol, name, kind)
        elif (top := 1 if (protocol, name) == ("messages", "temperature") else most) < value or value < least:
            yield _bound(protocol, name, "integer" if kind is int else "decimal", value, least, top)
    if protocol != "messages" and body.get("stream_options") is not None and not body.get("stream"):
        yield Refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    yield from _tools(protocol, body)


def _bound(protocol: str, name: str, word: str, value: Any, least: float, most: float) -> Refusal:
    low = value < least
    if protocol == "messages":
        return Refusal(
            f"{name}: Input should be {'greater' if low else 'less'} than or equal to {least if low else most}"
        )
    side, bound = ("below min", f">= {least}") if low else ("above max", f"<= {most}")
    said = f"Invalid '{name}': {word} {side}imum value. Expected a value {bound}, but got {value} instead."
    return Refusal(said, name, f"{word}_{side.replace(' ', '_')}_value")


def _tools(protocol: str, body: Mapping[str, Any]) -> Iterator[Refusal]:
    tools, choice = body.get("tools"), body.get("tool_choice")
    if tools == [] and protocol == "chat":
        yield _empty("tools")
    names = []
    for at, tool in enumerate(tools or ()):
        held = tool.get("function") if protocol == "chat" else tool
        where = {"chat": f"tools[{at}].function.name", "messages": f"tools.{at}.custom.name"}
        place = where.get(protocol, f"tools[{at}].name")
        if protocol != "messages" and not tool.get("type"):
            yield _missing(protocol, f"tools[{at}].type")
        elif protocol != "messages" and tool["type"] != "function":
            continue  # one that the service brings
        elif not isinstance(held, dict) or not held.get("name"):
            yield _missing(protocol, place)
        else:
            names.append(held["name"])
            yield from _name(protocol, place, held["name"])
    if len(set(names)) < len(names) and protocol == "messages":
        yield Refusal("tools: Tool names must be unique.")
    if not tools:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None:
                said = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
                yield Refusal(
                    said if protocol != "messages" else f"{name} may only be specified while providing tools", name
                )
    elif isinstance(choice, dict) and (choice.get("function") or choice).get("name") not in (None, *names):
        yield Refusal(f"Tool choice '{choice}' not found in 'tools' parameter.", "tool_choice")


def _name(protocol: str, place: str, name: Any) -> Iterator[Refusal]:
    most = 128 if protocol == "messages" else 64
    if not isinstance(name, str):
        yield _type(protocol, place, str)
    elif protocol == "messages" and not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name):
        yield Refusal(f"{place}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    elif not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
        wanted = f"Expected a string that matches the pattern '{_NAME}'."
        yield Refusal(f"Invalid '{place}': string does not match pattern. {wanted}", place, "invalid_value")
    elif len(name) > most:
        wanted = f"Expected a string with maximum length {most}, but got a string with length {len(name)} instead."
        yield Refusal(f"Invalid '{place}': string too long. {wanted}", place, "string_above_max_length")


def _turns(protocol: str, key: str, body: Mapping[str, Any]) -> Iterator[Refusal]:
    """What is wrong with the frame of each message, whatever it says."""
    found = body.get(key)
    if found is None:
        yield _missing(protocol, key)
    elif not isinstance(found, list):
        yield _type(protocol, key, list)
    elif not found:
        yield Refusal("messages: at least one message is required") if protocol == "messages" else _empty(key)
    else:
        for at, turn in enumerate(found):
            place = f"{key}[{at}]"
            if not isinstance(turn, dict):
                yield _type(protocol, place, dict)
                continue
            role = turn.get("role")
            if role is None and (protocol != "responses" or turn.get("type", "message") == "message"):
                yield _missing(protocol, f"{place}.role")
            elif role is not None and role not in _ROLES[protocol]:
                known = ", ".join(map(repr, _ROLES[protocol]))
                said = f"Invalid value: '{role}'. Supported values are: {known}."
                if protocol == "messages":
                    said = f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".'
                yield Refusal(said, f"{place}.role", "invalid_value")
            content = turn.get("content")
            if content is not None and not isinstance(content, str | list):
                yield _type(protocol, f"{place}.content", list)


def _chat(body: Mapping[str, Any]) -> Iterator[Refusal]:
    if broken := next(_turns("chat", "messages", body), None):
        yield broken
        return
    waiting: list[Any] = []
    for at, turn in enumerate(body["messages"]):
        role, place, calls = turn["role"], f"messages.[{at}]", turn.get("tool_calls")
        if role == "tool":
            if turn.get("tool_call_id") is None:
                yield _missing("chat", f"messages[{at}].tool_call_id")
            elif turn["tool_call_id"] not in waiting:
                said = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                yield Refusal(f"Invalid parameter: {said}", f"{place}.role")
            else:
                waiting.remove(turn["tool_call_id"])
        elif waiting:
            yield _unanswered(waiting, place)
        if turn.get("content") is None and not (role == "assistant" and calls):
            yield Refusal("Invalid value for 'content': expected a string, got null.", f"{place}.content")
        if calls == []:
            yield _empty(f"messages[{at}].tool_calls")
        for number, call in enumerate(calls or ()):
            yield from _chat_call(call, f"messages[{at}].tool_calls[{number}]")
            waiting.append(call.get("id"))
    if waiting:
        yield _unanswered(waiting, f"messages.[{len(body['messages'])}]")


def _chat_call(call: Mapping[str, Any], place: str) -> Iterator[Refusal]:
    if not call.get("id"):
        yield _missing("chat", f"{place}.id")
    held = call.get("function")
    if call.get("type") != "function" or not isinstance(held, dict):
        yield _missing("chat", f"{place}.type")
        return
    yield from _name("chat", f"{place}.function.name", held.get("name"))
    if not isinstance(held.get("arguments"), str):
        yield _type("chat", f"{place}.function.arguments", str)


def _unanswered(waiting: Sequence[Any], place: str) -> Refusal:
    said = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    ids = ", ".join(map(str, waiting))
    return Refusal(f"{said} The following tool_call_ids did not have response messages: {ids}", f"{place}.role")


def _responses(body: Mapping[str, Any]) -> Iterator[Refusal]:
    if isinstance(body.get("input"), str) or (body.get("previous_response_id") and body.get("input") is None):
        return
    if broken := next(_turns("responses", "input", body), None):
        yield broken
        return
    asked: set[Any] = set()
    answered: set[Any] = set()
    for at, item in enumerate(body["input"]):
        kind, place, call_id = item.get("type", "message"), f"input[{at}]", item.get("call_id")
        begins = {"function_call": "fc", "reasoning": "rs"}.get(kind, "")
        if item.get("id") is not None and not str(item["id"]).startswith(begins):
            said = f"Invalid '{place}.id': '{item['id']}'. Expected an ID that begins with '{begins}'."
            yield Refusal(said, f"{place}.id", "invalid_value")
        if kind == "message":
            yield from _spoken(item, place)
        elif kind == "function_call":
            yield from _asked(item, place)
            asked.add(call_id)
        elif kind == "function_call_output":
            if call_id not in asked and not body.get("previous_response_id"):
                yield Refusal(f"No tool call found for function call output with call_id {call_id}.", "input")
            if not isinstance(item.get("output"), str | list):
                yield _missing("responses", f"{place}.output")
            answered.add(call_id)
    for call_id in sorted(map(str, asked - answered)):
        yield Refusal(f"No tool output found for function call {call_id}.", "input")


def _asked(item: Mapping[str, Any], place: str) -> Iterator[Refusal]:
    if not item.get("call_id"):
        yield _missing("responses", f"{place}.call_id")
    yield from _name("responses", f"{place}.name", item.get("name"))
    if not isinstance(item.get("arguments"), str):
        yield _type("responses", f"{place}.arguments", str)


def _spoken(item: Mapping[str, Any], place: str) -> Iterator[Refusal]:
    if item.get("content") is None:
        yield _missing("responses", f"{place}.content")
    said = (
        ("output_text", "refusal") if item.get("role") == "assistant" else ("input_text", "input_image", "input_file")
    )
    for number, part in enumerate(item["content"] if isinstance(item.get("content"), list) else ()):
        if part.get("type") not in said:
            known = ", ".join(map(repr, said))
            where = f"{place}.content[{number}]"
            yield Refusal(
                f"Invalid value: '{part.get('type')}'. Supported values are: {known}.", where, "invalid_value"
            )


def _messages(body: Mapping[str, Any]) -> Iterator[Refusal]:
    if broken := next(_turns("messages", "messages", body), None):
        yield broken
        return
    thinking, turns = body.get("thinking") or {}, body["messages"]
    if thinking.get("type") == "enabled" and body["max_tokens"] <= thinking.get("budget_tokens", 0):
        yield Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if turns[0]["role"] != "user":
        yield Refusal('messages: first message must use the "user" role')
    waiting: list[Any] = []
    seen: set[Any] = set()
    for at, turn in enumerate(turns):
        content = turn.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
        if not content and not (at == len(turns) - 1 and turn["role"] == "assistant"):
            yield Refusal(f"messages.{at}: all messages must have non-empty content except for the optional final "
                          "assistant message")  # fmt: skip
        results = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        for number, block in enumerate(blocks):
            yield from _block(block, f"messages.{at}.content.{number}", waiting)
        if lost := [one for one in waiting if one not in results]:
            yield Refusal(
                f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(map(str, lost))}. Each `tool_use` block must have a corresponding `tool_result` block in "
                "the next message."
            )
        waiting = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
        if len({*waiting, *seen}) < len(waiting) + len(seen):
            yield Refusal("messages: `tool_use` ids must be unique")
        seen.update(waiting)
    if waiting:
        yield Refusal(f"messages.{len(turns) - 1}: `tool_use` ids were found without `tool_result` blocks immediately "
                      f"after: {', '.join(map(str, waiting))}.")  # fmt: skip
    marks = sum(1 for block in _blocks(body) if block.get("cache_control"))
    if marks > 4:
        yield Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")


def _block(block: Mapping[str, Any], place: str, waiting: Sequence[Any]) -> Iterator[Refusal]:
    kind = block.get("type")
    if not kind:
        yield _missing("messages", f"{place}.type")
    elif kind == "text" and not str(block.get("text") or "").strip():
        empty = "must be non-empty" if not block.get("text") else "must contain non-whitespace text"
        yield Refusal(f"messages: text content blocks {empty}")
    elif kind == "tool_result" and block.get("tool_use_id") not in waiting:
        yield Refusal(
            f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: {block.get('tool_use_id')}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    elif kind == "tool_use":
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(block.get("id") or "")):
            yield Refusal(f"{place}.tool_use.id: String should match pattern '{_NAME}'")
        yield from _name("messages", f"{place}.tool_use.name", block.get("name"))
        if not isinstance(block.get("input"), dict):
            yield _type("messages", f"{place}.tool_use.input", dict)
    elif kind == "thinking" and block.get("signature") is None:
        yield _missing("messages", f"{place}.thinking.signature")


def _blocks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every block that may carry a mark of the cache."""
    yield from body.get("tools") or ()
    for holder in (body.get("system"), *(turn.get("content") for turn in body["messages"])):
        yield from holder if isinstance(holder, list) else ()


def _missing(protocol: str, place: str) -> Refusal:
    if protocol == "messages":
        return Refusal(f"{_dotted(place)}: Field required")
    return Refusal(f"Missing required parameter: '{place}'.", place, "missing_required_parameter")


def _type(protocol: str, place: str, kind: type) -> Refusal:
    if protocol == "messages":
        return Refusal(f"{_dotted(place)}: Input should be a valid {_ANTHROPIC[kind]}")
    return Refusal(f"Invalid type for '{place}': expected {_KINDS[kind]}.", place, "invalid_type")


def _empty(place: str) -> Refusal:
    said = "Expected an array with minimum length 1, but got an empty array instead."
    return Refusal(f"Invalid '{place}': empty array. {said}", place, "empty_array")


def _dotted(place: str) -> str:
    return re.sub(r"\[(\d+)\]", r".\1", place)
