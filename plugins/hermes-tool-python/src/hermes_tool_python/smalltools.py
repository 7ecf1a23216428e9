"""What scripts of the small Python find in ``hermes_tools``, and how their output, values and errors read."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_tool_python.script import NAME, Printed, Script

__all__ = ["Printing", "Tools", "told", "words"]

_ROWS = 60  # of a table


class Printing:
    """Keeps the beginning and the end of what was printed; ``show`` gets the beginning as it comes."""

    def __init__(self, most: int, show: Callable[[str], None]) -> None:
        self._first, self._most, self._show = most * 2 // 5, most, show
        self._head, self._tail, self._total = "", "", 0

    def take(self, _stream: str, text: str) -> None:
        """Keep more; the middle goes."""
        if self._total < self._first:
            self._show(text[: self._first - self._total])
        self._total += len(text)
        room = self._first - len(self._head)
        self._head += text[:room]
        last = self._most - self._first
        self._tail = (self._tail + text[room:][-last:])[-2 * last :]

    def printed(self) -> Printed:
        """What was kept."""
        tail = self._tail[-(self._most - self._first) :]
        return Printed(head=self._head, tail=tail, left=self._total - len(self._head) - len(tail))


class Tools:
    """The functions of the module. They ask whoever runs a script now: an interpreter keeps them for all its scripts.

    ``ask`` gives the text of each call and whether it failed, ``say`` takes what is shown.
    """

    def __init__(self) -> None:
        self.names: Mapping[str, Sequence[str]] = {}
        self.ask: Callable[[Sequence[Any]], list[tuple[str, bool]]] = lambda _: []
        self.say: Callable[[str], None] = lambda _: None

    def functions(self) -> dict[str, Callable[..., Any]]:
        """All there are, by name."""
        return {**{name: self._made(name) for name in self.names}, "call_many": self.call_many, "show": self.show}

    def _made(self, name: str) -> Callable[..., str]:
        def call(*args: Any, **kwargs: Any) -> str:
            known = self.names.get(name, ())
            if len(args) > len(known):
                raise TypeError(f"{name} takes {len(known)} arguments: {', '.join(known)}")
            ((text, failed),) = self.ask([[name, {**dict(zip(known, args, strict=False)), **kwargs}]])
            if failed:
                raise RuntimeError(text)
            return text

        return call

    def call_many(self, calls: Any) -> list[Any]:
        """Call tools one after another; texts, or an error in place of one."""
        wanted = []
        for name, arguments in calls:
            if name not in self.names:
                raise RuntimeError(f"there is no tool named {str(name)[:100]!r}")
            wanted.append([name, dict(arguments)])
        return [RuntimeError(text) if failed else text for text, failed in self.ask(wanted)] if wanted else []

    def show(self, *things: Any) -> None:
        """Show tables and other values."""
        for thing in things:
            self.say(f"{words(thing)}\n")


def words(value: Any) -> str:
    """A value for people to read; of a long table the first rows."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value or not all(isinstance(row, dict) and row for row in value):
        return repr(value)
    heads = list(dict.fromkeys(key for row in value[:_ROWS] for key in row))
    cells = [[str(head) for head in heads], *([str(row.get(head, "")) for head in heads] for row in value[:_ROWS])]
    widths = [max(len(line[at]) for line in cells) for at in range(len(heads))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([*lines, *([f"… {len(value) - _ROWS} rows more"] if len(value) > _ROWS else [])])


def told(error: Any, script: Script) -> str:
    """An error with the lines of the script that it came through."""
    short = str(error)
    if "feed time limit exceeded" in short:
        return f"it did not end within {script.seconds:g} s and was stopped"
    try:
        text = str(error.display())
    except (AttributeError, TypeError):
        text = short
    text = text.removeprefix("Traceback (most recent call last):\n").strip()
    text = re.sub(r'"<python-input-\d+>"', f'"{NAME}"', text)
    return text if len(text) <= 1_500 else f"{text[:600]}\n…\n{text[-800:]}"
