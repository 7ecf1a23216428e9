"""Where the secrets of a text are, piece by piece.

What is found in a piece depends on nothing but the text before it: pieces are whole lines (a line without an end is
cut where the kernel says), a hit sees a little of what went before, and never beyond its piece. So it makes no
difference how a stream was cut on its way here.
"""

from collections.abc import Callable

from hermes_tool_redaction import shapes
from hermes_tool_redaction.foreign import foreign
from hermes_tool_redaction.headers import next_line, pair_value
from hermes_tool_redaction.hits import hits
from hermes_tool_redaction.manifest import Manifest, in_one_line
from hermes_tool_redaction.named import behind
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.places import line_begin, line_end
from hermes_tool_redaction.tokens import token_spans

__all__ = ["Finder", "Span"]

Span = tuple[int, int, bool]  # start, end, and whether nothing of it may be shown
_CONTEXT = 600  # characters before a piece that hits see
_APART = r"[\s\"'<>]"  # what words in addresses end at
_PHONE = r"\+(?<![\w+/.\\-]\+)[1-9]\d{8,14}(?!\w|[./+=]\w)"


_SHAPES: dict[str, Callable[[str, int, int], list[Span]]] = {
    "://": shapes.in_address,
    "value": pair_value,
    "bearer": shapes.bearer_or_basic,
    "basic": shapes.bearer_or_basic,
    "mnemonic": shapes.phrase,
    "option": shapes.option,
    "listed": shapes.listed,
    "statement": shapes.statement,
    "sudo -s": shapes.piped,
    "pgpass": shapes.in_pgpass,
    "signed": shapes.signed,
    "@": shapes.before_host,
    "hook": shapes.hook,
    "crypt": shapes.crypt,
    "encoded": shapes.encoded,
    "foreign": foreign,
}


class Finder:
    """Finds secrets in the pieces of one text, in their order."""

    def __init__(self) -> None:
        self._before = ""  # the end of what went before
        self._pending = ""  # the strength of a value that the next line holds
        self._key = False  # inside of a private key
        self._manifest: Manifest | None = None
        self._wrap = 0  # the length of a line that a secret filled to its end: it may go on

    def spans(self, piece: str) -> list[Span]:
        """The secrets of the next piece, in order, none overlapping."""
        found: list[Span] = []
        text = self._before + piece
        start = len(self._before)
        self._look(text, start, found)
        found += _decoded(text, start)
        merged = _merged(found, start)
        merged = self._wrapped(text, start, _merged([*merged, *_again(text, merged)], start))
        self._before = text[-_CONTEXT:]
        return [(begin - start, end - start, whole) for begin, end, whole in merged]

    def _look(self, text: str, start: int, found: list[Span]) -> None:
        self._go_on(text, start, found)
        found += token_spans(text, start)
        for begin, end, _ in list(found):
            if text.startswith(("AKIA", "ASIA"), begin):
                found += shapes.after_access_key(text, end)
        low = text.lower()
        if len(low) != len(text):
            low = text.encode("ascii", "replace").decode().lower()
        covered: dict[str, int] = {}  # by kind; what lies in a value is not looked at again: many names stay cheap
        for name, begin, end in sorted(hits(low, start), key=lambda hit: hit[1]):
            if begin < covered.get(name, start) and name in ("name", "-----begin"):
                continue
            found += (more := self._hit(text, name, begin, end))
            covered[name] = max([covered.get(name, start), *(last for _, last, _ in more)])
        found += [(*match.span(), True) for match in _re(_PHONE).finditer(text, start)]

    def _hit(self, text: str, word: str, begin: int, end: int) -> list[Span]:
        if word in _SHAPES:
            return _SHAPES[word](text, begin, end)
        if word == "-----begin":
            spans, goes_on = shapes.key_block(text, begin)
            return spans + (self._key_lines(text, line_end(text, begin) + 1) if goes_on else [])
        if word == "manifest":
            line = line_begin(text, begin, 4096)
            self._manifest = Manifest(text[max(0, line - 80) : line])
            spans = in_one_line(text, line, line_end(text, begin, 8192))
            return spans + self._manifest_lines(text, line_end(text, begin) + 1)
        if text[end - 4 : end].lower() in ("seed", "rase") and (spans := shapes.phrase(text, begin, end)):
            return spans
        spans, pending = behind(text, begin, end)
        if not spans and (spans := shapes.at_name(text, begin, end)):
            return spans
        if not spans and text.startswith(("wd", "word-stdin"), end) and text[begin - 2 : begin] in ("ch", "--"):
            return shapes.piped(text, begin, end)
        if pending and not spans:
            spans = self._next(text, line_end(text, end) + 1, pending)
        return spans

    def _next(self, text: str, at: int, kind: str) -> list[Span]:
        rule = _re(r"(?:(?:[-=+| ]{3,}|[ \t]*|[ \t]+(?:type|description|sensitive)[ ]*=[^\n]*)\r?\n)+").match(text, at)
        at = rule.end() if rule else at
        if at >= len(text):
            self._pending = kind
            return []
        return next_line(text, at, kind)

    def _key_lines(self, text: str, at: int) -> list[Span]:
        spans: list[Span] = []
        self._key = True
        for line in _re(".+").finditer(text, at):
            more, self._key = shapes.key_line(text, *line.span())
            spans += more
            if not self._key:
                break
        return spans

    def _manifest_lines(self, text: str, at: int) -> list[Span]:
        spans: list[Span] = []
        while self._manifest and at < len(text):
            end = line_end(text, at)
            more, goes_on = self._manifest.line(text, at, end)
            spans += more
            if not goes_on:
                self._manifest = None
            at = end + 1
        return spans

    def _go_on(self, text: str, start: int, found: list[Span]) -> None:
        """What the piece before left open: a key, a name without its value, a line that was full."""
        if self._key:
            found += self._key_lines(text, start)
        if self._manifest:
            found += self._manifest_lines(text, start)
        if self._pending:
            kind, self._pending = self._pending, ""
            found += self._next(text, start, kind)

    def _wrapped(self, text: str, start: int, spans: list[Span]) -> list[Span]:
        """The secrets with the lines on which a long secret goes on that filled its own to the end."""
        more: list[Span] = []
        if self._wrap:
            self._wrap = self._lines_of(text, start, self._wrap, more)
        for begin, end, _ in spans:
            newline = _re(r"(?:[\r\\].?)?\n").match(text, end)
            width = end - line_begin(text, begin, begin - start)
            if newline and end - begin >= 40 and width >= 60:
                self._wrap = self._lines_of(text, newline.end(), width, more)
        return _merged([*spans, *more], start)

    def _lines_of(self, text: str, at: int, width: int, more: list[Span]) -> int:
        """Lines of nothing but a long word; the width to go on with when the text ends in the middle."""
        while at < len(text):
            match = _re(r"[ \t>|+]*([A-Za-z0-9+/=_.-]{8,})\\?\r?(?:\n|$)").match(text, at)
            if match is None or match.end(1) - at > width + 1 or not _re(r"\d|[A-Z].*[a-z]").search(match[1]):
                return 0
            more.append((*match.span(1), True))
            if match.end(1) - at < width - 1:
                return 0
            at = match.end()
        return width


def _decoded(text: str, start: int) -> list[Span]:
    """Look once more at words in which signs are percent-encoded, with names and signs read."""
    found: list[Span] = []
    after = start
    for hit in _re(r"%(?:3[AaDd]|22)").finditer(text, start):
        if hit.start() < after:
            continue
        first = hit.start() - len(_re(_APART).split(text[max(0, hit.start() - 200) : hit.start()])[-1])
        after = first + len(_re(_APART).split(text[first : first + 4000])[0])
        signs = list(_re(r"%(3[AaDd]|2[26CcFf]|3[Ff]|7[BbDd])|.").finditer(text, first, after))
        plain = "".join(chr(int(sign[1], 16)) if sign[1] else sign[0] for sign in signs)
        origin = [*(sign.start() for sign in signs), after]
        found += [(origin[begin], origin[end], whole) for begin, end, whole in Finder().spans(plain)]
    return found


def _again(text: str, spans: list[Span]) -> list[Span]:
    """The same secrets near by, once more: as people repeat what they say."""
    more: list[Span] = []
    for begin, end, whole in spans:
        if 8 <= end - begin <= 100:
            value = text[begin:end]
            for low, high in ((line_begin(text, begin, 200), begin), (end, line_end(text, end, 200))):
                at = text.find(value, low, high)
                more += [(at, at + len(value), whole)] if at >= 0 else []
    return more


def _merged(spans: list[Span], start: int) -> list[Span]:
    merged: list[Span] = []
    for begin, end, whole in sorted((max(a, start), b, w) for a, b, w in spans if b > max(a, start)):
        if merged and begin < merged[-1][1]:
            last = merged[-1]
            merged[-1] = (last[0], max(last[1], end), last[2] or (whole and begin == last[0]))
        else:
            merged.append((begin, end, whole))
    return merged
