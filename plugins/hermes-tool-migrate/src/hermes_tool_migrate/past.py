"""A conversation put together from the lines of another agent, in the shape that every provider takes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.types import Message, Part, Text, ToolCall, ToolResult

__all__ = ["Telling", "arguments_of", "lines_of", "texts_of"]

_MOST = 50_000  # characters of one output; what is longer is cut, as outputs are here
_LONGEST = 64 * 1_000_000  # bytes of one line


class Telling:
    """Takes what was said in order. A call without a result, and a result without a call, is no part of it."""

    def __init__(self) -> None:
        self._said: list[tuple[str, list[Part]]] = []

    def say(self, role: str, *texts: str) -> None:
        """Add what a person or the model said."""
        parts: list[Part] = [Text(text=text) for text in texts if text.strip()]
        if role in ("user", "assistant") and parts:
            self._add(role, parts)

    def call(self, call_id: str, name: str, arguments: object) -> None:
        """Add a call of the model."""
        if call_id and name:
            self._add("assistant", [ToolCall(id=call_id, name=name, arguments=arguments_of(arguments))])

    def result(self, call_id: str, text: str, *, name: str = "", failed: bool = False) -> None:
        """Add what a call came to. It is text from outside, whatever it was called outside of here."""
        shown = text if len(text) <= _MOST else f"{text[:_MOST]}\n… ({len(text):,} characters)"
        one = ToolResult(call_id=call_id, name=name, parts=(Text(text=shown),), failed=failed, untrusted=True)
        self._said.append(("tool", [one]))

    def _add(self, role: str, parts: list[Part]) -> None:
        if self._said and self._said[-1][0] == role:
            self._said[-1][1].extend(parts)
        else:
            self._said.append((role, parts))

    @property
    def first(self) -> str:
        """The first words of the person."""
        said = (part.text for role, parts in self._said if role == "user" for part in parts if isinstance(part, Text))
        return next(said, "")

    def messages(self) -> list[Message]:
        """Return it as messages; none where a person said nothing."""
        if not self.first:
            return []
        results = {p.call_id: p for _, parts in self._said for p in parts if isinstance(p, ToolResult)}
        made: list[Message] = []
        waiting: list[Message] = []
        told: set[str] = set()
        for role, parts in self._said:
            if role == "tool":
                continue
            kept = [p for p in parts if not isinstance(p, ToolCall) or (p.id in results and p.id not in told)]
            if not kept:
                continue
            calls = [part for part in kept if isinstance(part, ToolCall)]
            told |= {call.id for call in calls}
            for piece in _whole(role, kept):
                made.append(piece)
                found = [part for part in piece.parts if isinstance(part, ToolCall)]
                waiting = [_named(results[call.id], call) for call in found]
                made += waiting
        return made


def _whole(role: str, parts: Sequence[Part]) -> Iterator[Message]:
    """Yield messages of which each ends with its calls: what is said after a result is another one."""
    piece: list[Part] = []
    for part in parts:
        if piece and isinstance(piece[-1], ToolCall) and not isinstance(part, ToolCall):
            yield Message(role="assistant", parts=tuple(piece))
            piece = []
        piece.append(part)
    yield Message(role="user" if role == "user" else "assistant", parts=tuple(piece))


def _named(result: ToolResult, call: ToolCall) -> Message:
    made = ToolResult(
        call_id=call.id, name=result.name or call.name, parts=result.parts, failed=result.failed, untrusted=True
    )
    return Message(role="tool", parts=(made,))


def arguments_of(given: object) -> Mapping[str, Any]:
    """Return a call's arguments, also where they are written as JSON."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {"input": given}
    return given if isinstance(given, dict) else {"input": given}


def texts_of(content: object, kinds: Iterable[str] = ("text", "input_text", "output_text")) -> list[str]:
    """Return the texts of a message's content, which is a text or a list of typed pieces."""
    if isinstance(content, str):
        return [content]
    wanted = set(kinds)
    pieces = content if isinstance(content, list) else []
    return [str(one.get("text", "")) for one in pieces if isinstance(one, dict) and one.get("type") in wanted]


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one on each line; a line that is none, such as the last of a cut file, is not.

    Raises OSError.
    """
    with path.open("rb") as file:
        while line := file.readline(_LONGEST):
            try:
                one = json.loads(line)
            except ValueError:
                continue
            if isinstance(one, dict):
                yield one
