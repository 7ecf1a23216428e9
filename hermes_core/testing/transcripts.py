"""Messages without what differs from run to run: to be compared with what a test wrote down, or kept as a snapshot."""

from collections.abc import Iterable
from hashlib import sha256

from hermes_core.codec import canonical
from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult

__all__ = ["plain", "transcript"]


def transcript(messages: Iterable[Message]) -> str:
    """Write messages as text, a paragraph each: who, what was said, calls with their arguments, results.

    No id, no signature and no thinking is in it: ``transcript(await hermes.sessions.past(hermes.owner, "trip"))`` is
    the same in each run that went the same way.
    """
    return "\n\n".join("\n".join([f"{one.role}:", *(_line(part) for part in plain(one))]) for one in messages) + "\n"


def plain(message: Message) -> list[dict[str, JSON]]:
    """Give the parts of a message as JSON, without ids and what only a provider can read."""
    return [made for part in message.parts if (made := _plain(part))]


def _plain(part: Part) -> dict[str, JSON]:
    match part:
        case Text():
            return {"text": part.text}
        case Blob():
            data = sha256(part.data).hexdigest()[:16] if part.data is not None else part.name
            return {"blob": part.media_type, "data": data}
        case ToolCall():
            return {"call": part.name, "arguments": dict(part.arguments)}
        case ToolResult():
            inner = [made for one in part.parts if (made := _plain(one))]
            return {"result": part.name, "failed": part.failed, "parts": inner}
        case Reasoning():
            return {}
    return {"part": type(part).__name__}


def _line(made: dict[str, JSON]) -> str:
    if "text" in made:
        return f"  {made['text']}".replace("\n", "\n  ")
    if "call" in made:
        return f"  -> {made['call']} {canonical(made['arguments'])}"
    if "result" in made:
        inner = "\n".join(_line(one) for one in made["parts"])
        return f"  <- {made['result']}{' failed' if made['failed'] else ''}\n{inner}".replace("\n  ", "\n    ")
    return f"  ({canonical(made)})"
