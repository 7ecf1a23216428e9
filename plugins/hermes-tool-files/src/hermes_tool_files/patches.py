"""Patches in the V4A format, which change several files by one text: read here, and laid on the files' texts.

*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ class Place
 a line that stays
-a line that goes
+a line that comes
*** Add File: c.txt
+its text
*** Delete File: d.txt
*** End Patch
"""

from collections.abc import Sequence
from typing import Literal

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_files.matching import READ_AGAIN, moved, uncertain
from hermes_tool_files.nearest import describe_nearest
from hermes_tool_files.tokens import spelled

FORM = "Begin with *** Begin Patch, then *** Add File:, *** Update File: or *** Delete File: with a path."
MORE = "Add lines around it, or an @@ line that names the class or function they stand in."
_HEADS: tuple[tuple[str, Literal["add", "update", "delete"]], ...] = (
    ("*** Add File: ", "add"),
    ("*** Update File: ", "update"),
    ("*** Delete File: ", "delete"),
)
_MOVE, _END = "*** Move to: ", "*** End of File"


@frozen(kw_only=True)
class Hunk:
    """Lines that become others. ``context`` are the ``@@`` lines it stands behind; ``last``: at the file's end."""

    context: Sequence[str] = ()
    old: Sequence[str] = ()
    new: Sequence[str] = ()
    last: bool = False


@frozen(kw_only=True)
class FilePatch:
    """What becomes of one file."""

    path: str
    kind: Literal["add", "update", "delete"]
    move: str = ""
    text: str = ""
    hunks: Sequence[Hunk] = ()


def parse(text: str) -> Sequence[FilePatch]:
    """The files of a patch, each once. Raises ToolError with the line that is wrong."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    begin = next((n for n, line in enumerate(lines) if line.strip() == "*** Begin Patch"), None)
    if begin is None:
        raise ToolError("Not patched: it does not begin with *** Begin Patch.", hint=FORM)
    end = next((n for n in range(begin, len(lines)) if lines[n].strip() == "*** End Patch"), len(lines))
    found: list[FilePatch] = []
    at = begin + 1
    while at < end:
        if not lines[at].strip():
            at += 1
            continue
        one, at = _file(lines, at, end)
        found.append(one)
    if not found:
        raise ToolError("Not patched: the patch names no file.", hint=FORM)
    names = [name for one in found for name in (one.path, one.move) if name]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ToolError(f"Not patched: {twice} is in the patch twice.", hint="Put all its hunks below one header.")
    return found


def _file(lines: Sequence[str], at: int, end: int) -> tuple[FilePatch, int]:
    head = next(((kind, lines[at][len(mark) :].strip()) for mark, kind in _HEADS if lines[at].startswith(mark)), None)
    if head is None or not head[1]:
        raise ToolError(f"Not patched: line {at + 1} names no file: {lines[at][:100]!r}.", hint=FORM)
    kind, path = head
    begin = at = at + 1
    while at < end and not any(lines[at].startswith(mark) for mark, _ in _HEADS):
        at += 1
    body = list(lines[begin:at])
    if kind == "delete":
        if any(line.strip() for line in body):
            raise ToolError(f"Not patched: line {begin + 1} stands below a file that is deleted.", hint=FORM)
        return FilePatch(path=path, kind=kind), at
    if kind == "add":
        if wrong := next((n for n, line in enumerate(body) if line and not line.startswith("+")), None):
            raise ToolError(f"Not patched: line {begin + wrong + 1} of a new file does not begin with +.", hint=FORM)
        text = "".join(f"{line[1:]}\n" for line in body if line.startswith("+"))
        return FilePatch(path=path, kind=kind, text=text), at
    move = body.pop(0)[len(_MOVE) :].strip() if body and body[0].startswith(_MOVE) else ""
    hunks = _hunks(body, begin + bool(move))
    if not hunks and not move:
        raise ToolError(f"Not patched: nothing is said about {path}.", hint=FORM)
    return FilePatch(path=path, kind=kind, move=move, hunks=hunks), at


def _hunks(body: Sequence[str], begin: int) -> Sequence[Hunk]:
    hunks: list[Hunk] = []
    context, old, new = list[str](), list[str](), list[str]()

    def close(*, last: bool = False) -> None:
        if old or new:
            # Empty lines between two hunks belong to none of them.
            while old and new and old[-1] == new[-1] == "" and not last and len(old) > 1:
                old.pop(), new.pop()
            hunks.append(Hunk(context=tuple(context), old=tuple(old), new=tuple(new), last=last))
            for one in (context, old, new):
                one.clear()

    for number, line in enumerate(body, begin + 1):
        if line == _END:
            close(last=True)
        elif line.startswith("@@"):
            close()
            if named := line[2:].removeprefix(" ").removesuffix(" @@"):
                context.append(named)
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
        elif not line or line.startswith(" "):
            old.append(line[1:])
            new.append(line[1:])
        else:
            raise ToolError(
                f"Not patched: line {number} begins neither with a space nor with - or +: {line[:100]!r}.", hint=FORM
            )
    close()
    return hunks


def laid_on(one: FilePatch, text: str) -> str:
    """A file's text after its hunks, each found below the one before. Raises ToolError; then nothing is changed.

    Lines that no hunk names keep their bytes, their ends too.
    """
    file = _Lines(text)
    for number, hunk in enumerate(one.hunks, 1):
        try:
            file.change(hunk)
        except ToolError as error:
            raise ToolError(f"{one.path}, hunk {number}: {error.text}", hint=error.hint) from error
    return "".join(file.lines)


class _Lines:
    """A file's lines with their ends, and how far its patch has come."""

    def __init__(self, text: str) -> None:
        *whole, rest = text.split("\n")
        ended = [f"{line}\n" for line in whole]
        self.lines = [*ended, rest] if rest else ended
        self.end = "\r\n" if ended and sum(line.endswith("\r\n") for line in ended) * 2 > len(ended) else "\n"
        self.at = 0

    def _bare(self) -> list[str]:
        return [line.removesuffix("\n").removesuffix("\r") for line in self.lines]

    def change(self, hunk: Hunk) -> None:
        """Make of a hunk's old lines its new ones. Raises ToolError."""
        bare = self._bare()
        begin = self.at
        for line in hunk.context:
            begin = _after(bare, line, begin)
        if not hunk.old:
            self._put(begin if hunk.context and not hunk.last else len(bare), 0, hunk.new)
            return
        at, fresh = _place(bare, hunk, begin)
        self._put(at, len(hunk.old), fresh)

    def _put(self, at: int, count: int, fresh: Sequence[str]) -> None:
        gone = self.lines[at : at + count]
        keeps_open = bool(gone) and at + count == len(self.lines) and not gone[-1].endswith("\n")
        whole = [line for line in gone if line.endswith("\n")]
        kind = self.end if not whole else "\r\n" if whole[0].endswith("\r\n") else "\n"
        made = [f"{line}{kind}" for line in fresh]
        if keeps_open and made:
            made[-1] = made[-1].removesuffix(kind)
        if made and at and not self.lines[at - 1].endswith("\n"):
            self.lines[at - 1] += self.end
        self.lines[at : at + count] = made
        self.at = at + len(made)


def _after(bare: Sequence[str], line: str, begin: int) -> int:
    """The place behind a line that a hunk names: exact, else but for white space, else by how it begins."""
    wanted = line.strip()
    for fits in (line.__eq__, lambda one: one.strip() == wanted, lambda one: one.strip().startswith(wanted)):
        for at in range(begin, len(bare)):
            if fits(bare[at]):
                return at + 1
    raise ToolError(f"Not patched: there is no line {line[:100]!r} below the place before.", hint=READ_AGAIN)


def _place(bare: Sequence[str], hunk: Hunk, begin: int) -> tuple[int, Sequence[str]]:
    """Where a hunk's old lines stand from a place on, and the new ones as they belong there.

    The same rules as for edit_file: exact, else equal but for white space and look-alikes, and only if one place fits.
    Of several that fit exactly behind a line that was named, the first.
    """
    old, count = list(hunk.old), len(hunk.old)
    places = range(begin, len(bare) - count + 1)
    exact = [at for at in places if bare[at : at + count] == old]
    if hunk.last and exact:
        exact = exact[-1:]
    if len(exact) == 1 or (exact and hunk.context):
        return exact[0], hunk.new
    keys = [spelled(line) for line in old]
    near = exact or (
        [
            at
            for at in places
            if all(spelled(line) == key for line, key in zip(bare[at : at + count], keys, strict=True))
        ]
        if any(keys)
        else []
    )
    if len(near) > 1:
        numbers = ", ".join(str(at + 1) for at in near[:10])
        raise ToolError(f"Not patched: its lines fit {len(near)} places, at the lines {numbers}.", hint=MORE)
    text, new = "\n".join(old), "\n".join(hunk.new)
    if not near:
        raise ToolError(
            f"Not patched: its lines are not there. {describe_nearest(bare[begin:], text)}", hint=READ_AGAIN
        )
    place = bare[near[0] : near[0] + count]
    fresh = moved(old, place, new, text)
    if fresh is None:
        raise uncertain(near[0] + 1, place)
    return near[0], fresh.split("\n") if hunk.new else []
