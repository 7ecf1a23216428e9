"""Finding and reading the notes of a folder. Nothing outside of the project is read, whatever links say."""

import os
import re
import stat
from pathlib import Path

from hermes_core.patterns import pattern
from hermes_core.values import frozen

_MOST = 2_000_000  # bytes read of one file
_FRONTMATTER = pattern(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@frozen(kw_only=True)
class Notes:
    """What a file says; ``blocked`` says why it is left out."""

    path: Path
    text: str
    blocked: str = ""

    def shown(self, root: Path, most: int) -> str:
        """The text within so many characters, or the line that stands in its place."""
        name = relative(self.path, root)
        if self.blocked:
            return f"[{name} was left out: {self.blocked}. Do not read it; a person may look at it.]"
        return cut(self.text, most)


def read(path: Path, root: Path, *, scan: bool) -> Notes | None:
    """The notes in a file, without frontmatter; None when there are none to be read."""
    try:
        real = path.resolve(strict=True)
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(_MOST)
    except (OSError, ValueError, RuntimeError):
        return None
    if root != real and root not in real.parents:
        return Notes(path=path, text="", blocked="it is a link that leads out of the project")
    text = _FRONTMATTER.sub("", data.decode("utf-8", errors="replace").removeprefix("\ufeff"), count=1).strip()
    if not text:
        return None
    if not scan:
        return Notes(path=path, text=text)
    from hermes_tool_kit import injection  # its patterns are compiled only where there is a file

    return Notes(path=path, text=text, blocked=injection.scan(text))


def cut(text: str, most: int) -> str:
    """A text of at most so many characters: the first 70 % and the last 20 %, with a line between them."""
    if len(text) <= most:
        return text
    head, tail = most * 7 // 10, most * 2 // 10
    left = len(text) - head - tail
    return f"{text[:head]}\n\n… {left:,} characters left out …\n\n{text[len(text) - tail :]}"


def relative(path: Path, root: Path) -> str:
    """A path as seen from the root, on one line."""
    name = str(path.relative_to(root)) if root in path.parents else path.name
    return name if name.isprintable() else ascii(name)[1:-1]
