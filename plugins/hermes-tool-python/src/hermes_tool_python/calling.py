"""The calls of tools that one script makes: counted, made one after another, and written down."""

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob, Text, ToolResult
from hermes_tool_python.notes import Note

__all__ = ["MYSELF", "Calls", "tools_of"]

MYSELF = "execute_code"
_CLOSED = frozenset({MYSELF, "tool_call", "tool_search"})  # scripts name every tool, and run no scripts


def tools_of(context: ToolContext) -> dict[str, list[str]]:
    """The tools that a script may call, with the names of their arguments: those that must be given first."""
    offer = context.offer()
    found = {}
    for spec in (*offer.tools, *offer.behind):
        if spec.name not in _CLOSED and spec.name.isidentifier():
            properties, required = spec.schema.get("properties", {}), spec.schema.get("required", ())
            found[spec.name] = [
                *(n for n in properties if n in required),
                *(n for n in properties if n not in required),
            ]
    return found


class Calls:
    """Makes them. ``most`` is how many there may be; ``made`` how many there were."""

    def __init__(self, context: ToolContext, most: int, note: Note) -> None:
        self._context, self._most, self._note = context, most, note
        self.made = 0
        self.outside = False

    async def make(self, wanted: Sequence[Any]) -> list[tuple[str, bool]]:
        """Make calls, each a name and arguments; the text that each gave, and whether it failed.

        What goes wrong with one is its answer: nothing that a script asks for raises.
        """
        return [await self._one(call) for call in wanted]

    async def _one(self, call: Any) -> tuple[str, bool]:
        try:
            name, arguments = call
        except (TypeError, ValueError):
            return "A call is a name and its arguments.", True
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            return "A call is a name and its arguments.", True
        if name in _CLOSED:
            return f"{name} was not called: a script calls tools by their own names, and no other script.", True
        if self.made >= self._most:
            return f"{name} was not called: {self._most} calls are the most of one script (tools.python.calls).", True
        self.made += 1
        self._note.begun(name, arguments)
        try:
            result = await self._context.call(name, arguments)
        except ToolError as error:
            self._note.over("refused")
            return str(error), True
        self._note.over("failed" if result.failed else "ok")
        self.outside = self.outside or result.untrusted
        return text_of(result), result.failed


def text_of(result: ToolResult) -> str:
    """What a script sees of a result."""
    said = []
    for part in result.parts:
        if isinstance(part, Text):
            said.append(part.text)
        elif isinstance(part, Blob):
            said.append(f"[{part.media_type}{f': {part.path}' if part.path else ''}]")
    return "\n".join(said)
