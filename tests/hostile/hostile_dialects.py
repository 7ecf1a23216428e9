"""What a strict provider would say of a request: each function lists what is wrong with a body."""

import json
import re
from typing import Any

FUNCTION = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
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
    if path.endswith("/chat/completions"):
        return _chat(body)
    return _responses(body) if path.endswith("/responses") else _messages(body)


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
        role, content = m["role"], m.get("content")
        if role == "tool":
            if not waiting or m["tool_call_id"] != waiting.pop(0):
                found.append(f"a result for {m['tool_call_id']!r} that no call waits for")
        elif waiting:
            found.append(f"calls without results: {waiting}")
            waiting = []
        if role == before and role in ("user", "assistant"):
            found.append(f"two messages of role {role} in a row")
        if not content and not m.get("tool_calls"):
            found.append(f"an empty message of role {role}")
        for call in m.get("tool_calls") or []:
            if not call["id"] or call["id"] in waiting:
                found.append(f"the id {call['id']!r} is empty or used twice")
            waiting.append(call["id"])
            if not FUNCTION.fullmatch(call["function"]["name"]):
                found.append(f"a function is named {call['function']['name']!r}")
            found += _arguments(call["function"]["arguments"])
        before = role
    if waiting:
        found.append(f"calls without results: {waiting}")
    if body["messages"][-1]["role"] not in ("user", "tool"):
        found.append("the model said the last word")
    return found


def _responses(body: Any) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            if not item["call_id"] or item["call_id"] in waiting:
                found.append(f"the id {item['call_id']!r} is empty or used twice")
            waiting.append(item["call_id"])
            if not FUNCTION.fullmatch(item["name"]):
                found.append(f"a function is named {item['name']!r}")
            found += _arguments(item["arguments"])
        elif kind == "function_call_output":
            if item["call_id"] not in waiting:
                found.append("an output that no call waits for")
            else:
                waiting.remove(item["call_id"])
        elif waiting:
            found.append(f"calls without outputs: {waiting}")
            waiting = []
        elif kind == "message" and not item.get("content"):
            found.append("an empty message")
    return found + ([f"calls without outputs: {waiting}"] if waiting else [])


def _messages(body: Any) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    seen: set[str] = set()
    before = "assistant"
    for m in body["messages"]:
        role, content = m["role"], m["content"]
        if role == before:
            found.append(f"two messages of role {role} in a row")
        before = role
        if not content:
            found.append(f"an empty message of role {role}")
        results = [b["tool_use_id"] for b in content if b["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            found.append(f"results {results} for calls {waiting}")
        waiting = [b["id"] for b in content if b["type"] == "tool_use"]
        for block in content:
            if block["type"] == "text" and not block["text"].strip():
                found.append("an empty block of text")
            if block["type"] == "tool_use":
                if not CALL_ID.fullmatch(block["id"]) or block["id"] in seen:
                    found.append(f"the id {block['id']!r} is bad or used twice")
                seen.add(block["id"])
                if not NAME.fullmatch(block["name"]) or not isinstance(block["input"], dict):
                    found.append(f"a bad call of {block['name']!r}")
    if before != "user":
        found.append("the model said the last word")
    return found
