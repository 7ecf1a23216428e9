"""What a running turn looks like in a chat: what was said so far, and which tools are at work."""

from collections.abc import Callable
from typing import Literal

from hermes_core.types import Called, Ended, Event, Noticed, Said, ToolCall
from hermes_platform_gateway.outward.silence import is_silence, may_be_silence

__all__ = ["Progress"]

CURSOR = " ▌"
_SHOWN = 60  # characters of what a tool is called with
_LINES = 12  # things that are shown above what is being said


class Progress:
    """Gathers the events of one turn. ``mask`` takes secrets out of what tools are called with."""

    def __init__(self, streaming: bool, tools: Literal["off", "new", "all"], mask: Callable[[str], str] = str) -> None:
        self.wanted = streaming or tools != "off"
        self.ended: Ended | None = None
        self._streaming, self._tools, self._mask = streaming, tools, mask
        self._lines: list[str] = []
        self._said = ""
        self._last_tool = ""

    def add(self, event: Event) -> None:
        """One thing that happened."""
        if isinstance(event, Said) and self._streaming:
            self._said += event.text
        elif isinstance(event, Called):
            self._settle()
            self._called(event.call)
        elif isinstance(event, Noticed):  # what was being said is said again
            self._said = ""
        elif isinstance(event, Ended):
            self.ended = event

    def _settle(self) -> None:
        if self._said.strip() and not may_be_silence(self._said):
            self._lines.append(self._said.strip())
            self._last_tool = ""
        self._said = ""

    def _called(self, call: ToolCall) -> None:
        again = call.name == self._last_tool
        if self._tools == "all" or (self._tools == "new" and not again):
            self._lines.append(f"⚙ {call.name}{self._shortly(call)}")
        self._last_tool = call.name

    def _shortly(self, call: ToolCall) -> str:
        value = next((v for v in call.arguments.values() if isinstance(v, str) and v.strip()), "")
        words = " ".join(self._mask(value).split()).replace("`", "'")
        return f": `{words if len(words) <= _SHOWN else words[: _SHOWN - 1] + '…'}`" if words else ""

    @property
    def unsaid(self) -> bool:
        """Whether the turn has its end, and no answer will be sent for it."""
        return self.ended is not None and (self.ended.reason == "interrupted" or is_silence(self.ended.answer))

    def text(self) -> str:
        """All of it as one message."""
        lines = self._lines[-_LINES:]
        if self.ended is not None and self.ended.reason == "interrupted":
            said = [self._said.strip(), "(stopped)"]
        else:
            said = [] if may_be_silence(self._said) else [self._said.rstrip() + CURSOR]
        return "\n\n".join(filter(None, ["\n".join(lines), *said]))

    def saying(self) -> str:
        """The same without what lies above, for when that is too long."""
        return self._said.rstrip() + CURSOR if not may_be_silence(self._said) else ""
