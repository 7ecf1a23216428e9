"""What a request says about the conversation: the last task, what was done for it, what came before."""

import json
from collections.abc import Mapping, Sequence

from hermes_core.types import JSON, Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen

PATHS = ("path", "file_path", "filename", "file", "directory", "folder")


@frozen(kw_only=True)
class Outcome:
    """What a tool call came to, as text."""

    text: str
    failed: bool = False


@frozen(kw_only=True)
class History:
    """A request, taken apart."""

    task: str = ""
    done: Sequence[tuple[str, Mapping[str, JSON], Outcome]] = ()  # calls since the task: name, arguments, outcome
    earlier: Sequence[tuple[str, Mapping[str, JSON], Outcome]] = ()  # calls before the task
    said: Sequence[str] = ()  # what the person said before the task
    prompt: str = ""


def clean(text: str) -> str:
    """Text as the store would keep it, so that a call is recognized when it comes back."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def text_of(message: Message) -> str:
    """The words of a message; what it quotes asks for nothing."""
    return clean("\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.quotes))


def key_of(name: str, arguments: Mapping[str, JSON]) -> str:
    """Equal for equal calls."""
    return f"{name} {json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False, default=str)}"


def read_history(messages: Sequence[Message]) -> History:
    """Take a history apart at the last thing the person said."""
    asked = [i for i, message in enumerate(messages) if message.role == "user"]
    if not asked:
        return History(prompt=_prompt(messages))
    last = _asking(messages, asked[-1])
    return History(
        task=text_of(messages[last]),
        done=_calls(messages[last + 1 :]),
        earlier=_calls(messages[:last]),
        said=[text_of(messages[i]) for i in asked if i < last],
        prompt=_prompt(messages),
    )


def _asking(messages: Sequence[Message], last: int) -> int:
    """Return where the person asks: what a plugin said behind it in the same breath only quotes, and asks nothing."""
    at = last
    while at > 0 and messages[at].role == "user" and _only_quotes(messages[at]):
        at -= 1
    return at if messages[at].role == "user" else last


def _only_quotes(message: Message) -> bool:
    return all(isinstance(part, Text) and part.quotes for part in message.parts)


def _prompt(messages: Sequence[Message]) -> str:
    return "\n".join(text_of(message) for message in messages if message.role == "system")


def _calls(messages: Sequence[Message]) -> list[tuple[str, Mapping[str, JSON], Outcome]]:
    results = {p.call_id: p for m in messages for p in m.parts if isinstance(p, ToolResult)}
    calls = [p for m in messages for p in m.parts if isinstance(p, ToolCall)]
    return [(call.name, call.arguments, _outcome(results.get(call.id))) for call in calls]


def _outcome(result: ToolResult | None) -> Outcome:
    if result is None:
        return Outcome(text="The call has no result.", failed=True)
    text = clean("\n".join(part.text for part in result.parts if isinstance(part, Text)))
    return Outcome(text=text, failed=result.failed)
