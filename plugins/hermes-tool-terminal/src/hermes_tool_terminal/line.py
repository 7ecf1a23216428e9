"""The line that is being typed into a process: what its keys come to, so that it is judged whole."""

import re

__all__ = ["Line", "typed"]

_MOST = 4_000  # characters of a line that are kept
_INTERRUPT, _CLEAR, _WORD = "\x03", "\x15", "\x17"
_ENDS = re.compile(r"[\r\n\x0f\x18]")  # also what a shell's line editor has for it: Ctrl+O, and Ctrl+X before others
_BACK = ("\x7f", "\b")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


class Line:
    """What was typed since the last line ended."""

    def __init__(self) -> None:
        self._keys = ""

    def whole(self, text: str) -> str:
        """Return the lines that this ends, where they are not what is typed; else nothing: none runs before its end."""
        if not _ENDS.search(text):
            return ""
        stands = typed(self._keys + text)
        return stands if stands.rstrip("\n") != text.replace("\r", "\n").rstrip("\n") else ""

    def take(self, text: str) -> None:
        """Know of what was typed."""
        keys = (self._keys + text).replace("\r", "\n")
        ends = (
            m.end() for m in reversed([*re.finditer(r"[\n\x03]", keys)]) if typed(keys[: m.end()])[-1:] in ("", "\n")
        )
        self._keys = keys[next(ends, 0) :][-_MOST:]


def typed(keys: str) -> str:
    """Return the lines that keys come to: those that take something back do so, others that are no text are left out.

    What a key of the cursor, of the history or of a completion does is known to the program alone.
    """
    lines: list[str] = [""]
    for key in _ESCAPE.sub("", keys).replace("\r", "\n"):
        line = lines[-1]
        if key == "\n":
            if (len(line) - len(line.rstrip("\\"))) % 2:  # it goes on
                lines[-1] = line[:-1]
            else:
                lines.append("")
        elif key in _BACK:
            lines[-1] = line[:-1]
        elif key == _WORD:
            lines[-1] = re.sub(r"\S*\s*$", "", line)
        elif key in (_INTERRUPT, _CLEAR):
            lines[-1] = ""
        elif key.isprintable() or key == "\t":
            lines[-1] = line + key
    return "\n".join(lines)
