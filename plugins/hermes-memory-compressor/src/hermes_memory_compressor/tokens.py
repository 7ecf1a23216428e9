"""How many tokens something will have, without a tokenizer; corrected by what the provider counted last."""

import json
from collections.abc import Iterable

from attrs import asdict

from hermes_core.types import Blob, Message, Part, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec

IMAGE = 1_600
_PER_MESSAGE = 4


def of_text(text: str) -> int:
    """A quarter for each character; a whole one for each of Chinese, Japanese and Korean."""
    more = 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) - len(text)
    return (2 * len(text) + 3 * more + 7) // 8


def of_part(part: Part) -> int:
    """Tokens of a part, with its arguments or output."""
    if isinstance(part, Text | Reasoning):
        return of_text(part.text)
    if isinstance(part, ToolCall):
        return 8 + of_text(part.name) + of_text(json.dumps(part.arguments, ensure_ascii=False, default=str))
    if isinstance(part, ToolResult):
        return 8 + sum(of_part(inner) for inner in part.parts)
    return IMAGE if isinstance(part, Blob) else 0


def of_messages(messages: Iterable[Message]) -> int:
    """Tokens of messages."""
    return sum(_PER_MESSAGE + sum(of_part(part) for part in message.parts) for message in messages)


def bulk(messages: Iterable[Message]) -> int:
    """About how many bytes messages have when they are stored."""
    stored = (asdict(message) for message in messages)
    return sum(len(json.dumps(one, ensure_ascii=False, default=repr).encode("utf-8", "replace")) for one in stored)


def of_tools(tools: Iterable[ToolSpec]) -> int:
    """Tokens of what a model is told of tools."""
    return sum(
        of_text(tool.name) + of_text(tool.description) + of_text(json.dumps(tool.schema, default=str)) for tool in tools
    )


def of_request(request: Request) -> int:
    """Tokens of all that is sent: prompt, messages, tools."""
    return of_tools(request.tools) + of_messages(request.messages)
