"""Text in pieces, at whatever places they were cut: what comes out is what the whole text would give."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from hermes_known.known import Known
from hermes_known.places import Span

__all__ = ["UNJUDGED", "Judge", "Mask", "MaskingStream", "hidden", "mask", "masked_text"]

UNJUDGED = r"[^\r\n]*\S[^\r\n]*"  # a line that holds something
Mask = Callable[[str, bool], str]
_LINE = 131_072  # characters of a line that are looked at together
_GAP = 4_096  # how far back a place is looked for at which a longer line can be cut
_SHOWN = 18  # characters; a shorter secret is hidden as a whole
# Patterns are compiled when first used: most starts need none of them.
_MARKS = r"\\(?:u00|(?:x1b|033|e)\[)"
_SEQUENCE = (
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\\+(?:x1b|u001[bB]|033|e)\[[0-9;]*[mK]"
    r"|\\+u00(?P<code>[2-7][0-9a-fA-F])"
)


class Judge(Protocol):
    """Who finds what is not known: by its form, or by what stands around it."""

    def may_hold(self, text: str) -> bool:
        """Say False only of a text that surely holds nothing."""

    def follow(self) -> Callable[[str], list[Span] | None]:
        """Return what is asked about one text, piece by piece: the spans in it, None where it cannot be judged."""


def mask(secret: str, whole: bool = False) -> str:
    """Return what is shown in a secret's place: of long ones enough to recognise which one it is."""
    if whole or len(secret) < _SHOWN:
        return "***"
    return f"{secret[:6]}…{secret[-4:]}"


def hidden(secret: str, whole: bool = False) -> str:
    """Return the same where a model reads it: in brackets no file holds, so that it cannot be written back unseen."""
    shown = mask(secret, whole)
    return "⟦secret⟧" if shown == "***" else f"⟦secret {shown}⟧"


def masked_text(text: str, known: Known, maskers: Sequence[Judge] = (), mask: Mask = mask) -> str:
    """Return a whole text with its secrets masked."""
    if not any(masker.may_hold(text) for masker in maskers) and not known.spans(_plain(text)[0]):
        return text
    stream = MaskingStream(known, maskers, mask=mask)
    return stream.feed(text) + stream.close()


class MaskingStream:
    """Takes secrets out of a text that comes in pieces. Holds back the line that has not ended, at most 128 K of it.

    ``after`` is done to what can be shown.
    """

    def __init__(
        self,
        known: Known,
        maskers: Sequence[Judge] = (),
        *,
        mask: Mask = mask,
        after: Callable[[str], str] | None = None,
    ) -> None:
        self._known, self._judges = known, [masker.follow() for masker in maskers]
        self._mask, self._after = mask, after
        self._held: list[str] = []
        self._size = 0

    def feed(self, piece: str) -> str:
        """Return what of the text so far can be shown."""
        self._held.append(piece)
        self._size += len(piece)
        if "\n" not in piece and self._size < _LINE:
            return ""
        text = "".join(self._held)
        ended = text.rfind("\n") + 1
        shown = list(self._blocks(text, ended))
        rest = text[ended:]
        while len(rest) > _LINE:
            cut = _cut(rest)
            shown.append(self._shown(rest[:cut]))
            rest = rest[cut:]
        self._held, self._size = [rest], len(rest)
        return "".join(shown)

    def close(self) -> str:
        """Return the rest."""
        rest, self._held = "".join(self._held), []
        return self._shown(rest) if rest else ""

    def _blocks(self, text: str, ended: int) -> Iterable[str]:
        """Yield whole lines, many at once; those longer than a line may be are cut."""
        at = 0
        while at < ended:
            end = text.rfind("\n", at, min(at + _LINE, ended)) + 1
            if end <= at:  # a line as long as that
                line = text.index("\n", at) + 1
                while line - at > _LINE:
                    cut = at + _cut(text[at : at + _LINE])
                    yield self._shown(text[at:cut])
                    at = cut
                end = line
            yield self._shown(text[at:end])
            at = end

    def _shown(self, piece: str) -> str:
        found = self._spans(piece)
        if found is None:
            return re.sub(UNJUDGED, lambda line: self._mask(line[0], True), piece)
        parts, at = [], 0
        for begin, end, whole in found:
            parts += [piece[at:begin], self._mask(piece[begin:end], whole)]
            at = end
        shown = "".join([*parts, piece[at:]]) if parts else piece
        return self._after(shown) if self._after else shown

    def _spans(self, piece: str) -> list[Span] | None:
        """Return the secrets of the next piece, in order, none overlapping; None when somebody could not judge it."""
        text, place = _plain(piece)
        found = self._known.spans(text)
        for more in [judge(text) for judge in self._judges]:  # each is asked, as each remembers what went before
            if more is None:
                return None
            found += more
        return [(place(begin), place(end), whole) for begin, end, whole in _merged(found)]


def _cut(line: str) -> int:
    """Say where the first part of a line that is too long ends: at a blank or a comma, where there is one."""
    place = max(line.rfind(sign, _LINE - _GAP, _LINE) for sign in (" ", ",", ";", "&", "}"))
    return place + 1 or _LINE


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end, whole in sorted(span for span in spans if span[0] < span[1]):
        if merged and begin < merged[-1][1]:
            last = merged[-1]
            merged[-1] = (last[0], max(last[1], end), last[2] or (whole and begin == last[0]))
        else:
            merged.append((begin, end, whole))
    return merged


def _plain(piece: str) -> tuple[str, Callable[[int], int]]:
    """Return the piece without colours and with ``\\u0073`` read, and where its characters were."""
    if "\x1b" not in piece and not re.search(_MARKS, piece):
        return piece, lambda at: at
    parts, here, origin, at, length = [], [0], [0], 0, 0
    for match in re.finditer(_SEQUENCE, piece):
        code = int(match["code"] or "0", 16)
        read = match[0] if code in (0x22, 0x5C) else chr(code) if code else ""
        parts += [piece[at : match.start()], read]
        length += match.start() - at
        at = match.end()
        here += [length, length + len(read)]
        origin += [match.start(), at]
        length += len(read)
    parts.append(piece[at:])

    def place(index: int) -> int:
        last = bisect_right(here, index) - 1
        return origin[last] + index - here[last]

    return "".join(parts), place
