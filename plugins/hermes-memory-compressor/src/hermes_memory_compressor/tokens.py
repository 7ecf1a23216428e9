"""How many tokens something will have, without a tokenizer; corrected by what the provider counted last."""

import json
from collections.abc import Iterable

from attrs import asdict

from hermes_core.types import Blob, Message, Part, Reasoning, Request, Text, ToolCall, ToolResult, Usage

IMAGE = 1_600
_PER_MESSAGE = 4
_CREDIBLE = 3.0  # a count further off than this factor is not of the whole request, such as without cached tokens


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


def of_request(request: Request) -> int:
    """Tokens of all that is sent: prompt, messages, tools."""
    tools = sum(
        of_text(tool.name) + of_text(tool.description) + of_text(json.dumps(tool.schema, default=str))
        for tool in request.tools
    )
    return tools + of_messages(request.messages)


class Meter:
    """Corrects estimates by what the provider counted; each session's text and tools have a ratio of their own."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}
        self._seen: dict[str, Request] = {}

    def learn(self, session_id: str, request: Request, usage: Usage) -> None:
        """Compare an estimate with the count that came with the reply."""
        self._seen[session_id] = request
        ratio = usage.input / max(1, of_request(request))
        if 1 / _CREDIBLE <= ratio <= _CREDIBLE:
            self._ratios[session_id] = ratio

    def ratio(self, session_id: str) -> float:
        """Real tokens for each estimated one."""
        return self._ratios.get(session_id, 1.0)

    def around(self, session_id: str) -> tuple[int, int, int]:
        """Of the session's last request: the model's window, the room for a reply, estimated tokens beside messages."""
        if (request := self._seen.get(session_id)) is None:
            return 0, 0, 0
        reply = request.options.get("max_tokens") or 0
        return request.context, int(reply), of_request(request) - of_messages(request.messages[1:])
