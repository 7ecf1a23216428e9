"""Finding the one place a model means, and putting new text there; or refusing.

Exact text first. Otherwise whole lines (or a part of one line) whose tokens are all equal, and only if there is one
such place. A wrong edit that reports success is worse than a refusal that shows the nearest place.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_files.escapes import unescaped
from hermes_tool_files.indent import find_rebase
from hermes_tool_files.nearest import describe_nearest
from hermes_tool_files.tokens import has_word, indent_of, plain, same_shape, spelled, tokens

READ_AGAIN = "Read that part of the file again and give its exact text."


@frozen(kw_only=True)
class Edit:
    """A text after an edit, and how its place was found."""

    text: str
    strategy: str
    places: int


@frozen
class _Span:
    """What will stand where; positions count in the text with LF line ends."""

    start: int
    end: int
    text: str
    strategy: str


def edit(text: str, old: str, new: str, *, replace_all: bool = False) -> Edit:
    """The text with ``old`` replaced by ``new``. Line ends stay as they are in the file.

    Raises ToolError when the place is not there, not unique, not certain, or nothing would change.
    """
    unix, old, new = (part.replace("\r\n", "\n") for part in (text, old, new))
    if not old:
        raise ToolError("Not edited: old is empty.", hint="Give the text to replace, or use write_file.")
    if old == new:
        raise ToolError("Not edited: old and new are the same text.")
    spans = _exact(unix, old, new, replace_all) or [_fuzzy(unix, old, new, replace_all)]
    result = _with_line_ends(text, unix, spans)
    if result == text:
        raise ToolError("Not edited: the file already says that.")
    return Edit(text=result, strategy=spans[0].strategy, places=len(spans))


def _exact(text: str, old: str, new: str, replace_all: bool) -> list[_Span]:
    starts = []
    at = text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + len(old))
    if not replace_all and old[0] in " \t":
        # Part of an indentation is no exact text: the model took the line for one that is indented less.
        starts = [start for start in starts if not _in_indent(text, start)]
    if len(starts) > 1 and not replace_all:
        raise _several([text.count("\n", 0, start) + 1 for start in starts])
    # Overlapping places ("aa" in "aaa") are several as well.
    if len(starts) == 1 and not replace_all and text.find(old, starts[0] + 1) >= 0:
        raise _several([text.count("\n", 0, at) + 1 for at in (starts[0], text.find(old, starts[0] + 1))])
    return [_Span(start, start + len(old), new, "exact") for start in starts]


def _in_indent(text: str, at: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return bool(before) and not before.strip(" \t")


def _fuzzy(text: str, old: str, new: str, replace_all: bool) -> _Span:
    lines = text.split("\n")
    found = list(_whole_lines(lines, old, new)) if has_word(old) else []
    if not found and has_word(old):
        found = list(_within_a_line(lines, old, new))
    if not found:
        found = [_Span(*span, "escapes") for span in unescaped(text, old, new)]
    numbers = [text.count("\n", 0, span.start) + 1 for span in found]
    if not found:
        raise ToolError(f"Not edited: old is not in the file. {describe_nearest(lines, old)}", hint=READ_AGAIN)
    if replace_all:
        raise ToolError(
            f"Not edited: old is not in the file exactly, only something like it at {_lines(numbers)}.",
            hint="replace_all needs the exact text.",
        )
    close = [span for span in found if span.strategy == "trailing space"]
    if len(close) == 1:
        return close[0]
    if len(found) > 1:
        raise _several(numbers)
    return found[0]


def _whole_lines(lines: Sequence[str], old: str, new: str) -> Iterator[_Span]:
    wanted = old.removesuffix("\n").split("\n")
    keys = [spelled(line) for line in wanted]
    real = [spelled(line) for line in lines]
    offset = 0
    for first in range(len(lines) - len(keys) + 1):
        if real[first] == keys[0] and real[first : first + len(keys)] == keys:
            place = lines[first : first + len(keys)]
            width = sum(map(len, place)) + len(place) - 1
            text = moved(wanted, place, new, old)
            if text is None:
                raise uncertain(first + 1, place)
            whole = old.endswith("\n") and not new and first + len(keys) < len(lines)
            yield _Span(offset, offset + width + whole, text, _strategy(wanted, place))
        offset += len(lines[first]) + 1


def moved(wanted: Sequence[str], place: Sequence[str], new: str, old: str) -> str | None:
    """The new lines as they belong into the file: its indentation, and its own spelling of lines that stay."""
    if old.endswith("\n"):
        new = new.removesuffix("\n")
    fresh = new.split("\n") if new else [""]
    pairs = [(indent_of(plain(o)), indent_of(plain(p))) for o, p in zip(wanted, place, strict=True) if o.strip()]
    rebase = find_rebase(pairs, [indent_of(line) for line in fresh if line.strip()])
    if rebase is None:
        return None
    result: list[str] = []
    for tag, o1, o2, n1, n2 in SequenceMatcher(None, wanted, fresh, autojunk=False).get_opcodes():
        if tag == "equal":
            result += place[o1:o2]
            continue
        for number, line in enumerate(fresh[n1:n2]):
            indent = rebase(indent_of(line)) if line.strip() else ""
            if indent is None:
                return None
            partner = o1 + number
            words = line.lstrip(" \t")
            if partner < o2:
                words = _in_its_spelling(wanted[partner].strip(), place[partner].strip(), words)
            result.append(indent + words)
    return "\n".join(result)


def _in_its_spelling(old: str, real: str, new: str) -> str:
    """Characters that the edit leaves alone stay as the file spells them: an apostrophe stays curly."""
    if old == real or not same_shape(old, real):
        return new
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return "".join(real[o1:o2] if tag == "equal" else new[n1:n2] for tag, o1, o2, n1, n2 in blocks)


def _within_a_line(lines: Sequence[str], old: str, new: str) -> Iterator[_Span]:
    """A part of one line. Multi-line text must match whole lines, else its edges would be a guess."""
    if "\n" in old or "\n" in new:
        return
    wanted = spelled(old)
    edges = (old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :])
    if (new[: len(new) - len(new.lstrip())], new[len(new.rstrip()) :]) != edges:
        return
    offset = 0
    for line in lines:
        real = tokens(line)
        for first in range(len(real) - len(wanted) + 1):
            part = real[first : first + len(wanted)]
            if tuple(token.text for token in part) == wanted:
                start, end = part[0].start, part[-1].end
                words = _in_its_spelling(old.strip(), line[start:end], new.strip())
                yield _Span(offset + start, offset + end, words, _strategy([old.strip()], [line[start:end]]))
        offset += len(line) + 1


def _strategy(wanted: Sequence[str], place: Sequence[str]) -> str:
    pairs = list(zip(wanted, place, strict=True))
    if all(o.rstrip() == p.rstrip() for o, p in pairs):
        return "trailing space"
    if all(o.strip() == p.strip() for o, p in pairs):
        return "indentation"
    if all("".join(o.split()) == "".join(p.split()) for o, p in pairs):
        return "white space"
    return "look-alike characters"


def _with_line_ends(text: str, unix: str, spans: Sequence[_Span]) -> str:
    """The original text with the spans put in, all other bytes untouched."""
    # Where, in the LF text, a line end is CRLF in the original.
    carriage: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        carriage.append(at - len(carriage))
        at = text.find("\r\n", at + 2)
    pieces: list[str] = []
    done = 0
    for span in spans:
        begin = span.start + bisect_left(carriage, span.start)
        line_end = unix.find("\n", span.start)
        near = line_end if line_end >= 0 else unix.rfind("\n", 0, span.start)
        windows = bool(carriage) and near in carriage[(i := bisect_left(carriage, near)) : i + 1]
        pieces += [text[done:begin], span.text.replace("\n", "\r\n") if windows else span.text]
        done = span.end + bisect_left(carriage, span.end)
    return "".join([*pieces, text[done:]])


def _lines(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:10]))
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{', …' if len(numbers) > 10 else ''}"


def _several(numbers: Sequence[int]) -> ToolError:
    return ToolError(
        f"Not edited: old fits {len(numbers)} places, at {_lines(numbers)}.",
        hint="Add lines around it until it fits one, or set replace_all if all of them are meant.",
    )


def uncertain(number: int, place: Sequence[str]) -> ToolError:
    """What to say where the words are there, but no single rule explains the indentation."""
    shown = "\n".join(f"{number + i}|{line}" for i, line in enumerate(place[:20]))
    return ToolError(
        f"Not edited: line {number} has the same words but is indented in another way:\n{shown}", hint=READ_AGAIN
    )
