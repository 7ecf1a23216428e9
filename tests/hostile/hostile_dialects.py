"""What the strictest of services would say of a request: what the vendors refuse, and what some others do besides."""

import json
import re
from typing import Any

from hermes_core.testing.protocol_rules import protocol_of, refusal_of

CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def strict(raw: bytes | str) -> Any:
    """JSON by the letter: no NaN, no lone surrogate, no NUL, valid UTF-8. Raises ValueError."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    text.encode("utf-8")
    found = json.loads(text, parse_constant=refuse)
    for word in words(found):
        word.encode("utf-8")
        if "\x00" in word:
            raise ValueError("there is a NUL in it")
    return found


def words(value: Any) -> list[str]:
    """Every text in a JSON value, keys too."""
    found, level = [], [value]
    while level:
        item = level.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            level += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            level += item
        elif isinstance(item, float) and (item != item or item in (float("inf"), float("-inf"))):
            raise ValueError("a number is not finite")
    return found


def problems(path: str, raw: bytes) -> list[str]:
    """What is wrong with a request that was sent to an address."""
    try:
        body = strict(raw)
    except (ValueError, RecursionError) as error:
        return [f"the body is not JSON: {error}"]
    return check(path, body)


def check(path: str, body: Any) -> list[str]:
    """What is wrong with the body of a request."""
    protocol = protocol_of(path)
    refusal = refusal_of(protocol, body)
    more = {"chat": _chat, "responses": _responses, "messages": _messages}[protocol]
    return [refusal.message] if refusal else more(body)


def _arguments(text: Any) -> list[str]:
    try:
        return [] if isinstance(strict(text), dict) else ["arguments are no object"]
    except (ValueError, TypeError, RecursionError) as error:
        return [f"arguments are not JSON: {error}"]


def _chat(body: Any) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    before = ""
    for m in body["messages"]:
        role = m["role"]
        if role == "tool" and m["tool_call_id"] != waiting.pop(0):
            found.append(f"the result for {m['tool_call_id']!r} comes out of order")
        if role == before and role in ("user", "assistant"):
            found.append(f"two messages of role {role} in a row")
        if not m.get("content") and not m.get("tool_calls"):
            found.append(f"an empty message of role {role}")
        for call in m.get("tool_calls") or []:
            if call["id"] in waiting:
                found.append(f"the id {call['id']!r} is used twice")
            waiting.append(call["id"])
            found += _arguments(call["function"]["arguments"])
        before = role
    if body["messages"][-1]["role"] not in ("user", "tool"):
        found.append("the model said the last word")
    return found


def _responses(body: Any) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            if item["call_id"] in waiting:
                found.append(f"the id {item['call_id']!r} is used twice")
            waiting.append(item["call_id"])
            found += _arguments(item["arguments"])
        elif kind == "function_call_output":
            waiting.remove(item["call_id"])
        elif waiting:
            found.append(f"calls without outputs: {waiting}")
            waiting = []
        elif kind == "message" and not item.get("content"):
            found.append("an empty message")
    return found


def _messages(body: Any) -> list[str]:
    found: list[str] = []
    before = "assistant"
    for m in body["messages"]:
        role, content = m["role"], m["content"]
        if role == before:
            found.append(f"two messages of role {role} in a row")
        before = role
        if not content:
            found.append(f"an empty message of role {role}")
        ids = [block["id"] for block in content if block["type"] == "tool_use"]
        found += [f"the id {one!r} is too long" for one in ids if not CALL_ID.fullmatch(one)]
    if before != "user":
        found.append("the model said the last word")
    return found
