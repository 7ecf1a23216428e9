"""Text in pieces, at whatever places they were cut: what comes out is what the whole text would give."""

from collections.abc import Callable, Iterable

from hermes_core.redaction.find import Finder
from hermes_core.redaction.known import Known

__all__ = ["Redactor", "hidden", "mask"]

Mask = Callable[[str, bool], str]
_LINE = 131_072  # characters of a line that are looked at together
_GAP = 4_096  # how far back a place is looked for at which a longer line can be cut
_SHOWN = 18  # characters; a shorter secret is hidden as a whole


def mask(secret: str, whole: bool = False) -> str:
    """What is shown in a secret's place: of long ones enough to recognise which one it is."""
    if whole or len(secret) < _SHOWN:
        return "***"
    return f"{secret[:6]}…{secret[-4:]}"


def hidden(secret: str, whole: bool = False) -> str:
    """The same where a model reads it: in brackets that no file holds, so that it cannot be written back unseen."""
    shown = mask(secret, whole)
    return "⟦secret⟧" if shown == "***" else f"⟦secret {shown}⟧"


class Redactor:
    """Takes secrets out of a text that comes in pieces. Holds back the line that has not ended, at most 128 K of it."""

    def __init__(self, known: Known | Iterable[str] = (), *, mask: Mask = mask) -> None:
        self._finder = Finder(known if isinstance(known, Known) else Known(known) if known else None)
        self._mask = mask
        self._held: list[str] = []
        self._size = 0

    def feed(self, piece: str) -> str:
        """What of the text so far can be shown."""
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
        """The rest."""
        rest, self._held = "".join(self._held), []
        return self._shown(rest) if rest else ""

    def _blocks(self, text: str, ended: int) -> Iterable[str]:
        """Whole lines, many at once; those longer than a line may be are cut."""
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
        shown, at = [], 0
        for begin, end, whole in self._finder.spans(piece):
            shown += [piece[at:begin], self._mask(piece[begin:end], whole)]
            at = end
        return "".join([*shown, piece[at:]]) if shown else piece


def _cut(line: str) -> int:
    """Where the first part of a line that is too long ends: at a blank or a comma, where there is one."""
    place = max(line.rfind(sign, _LINE - _GAP, _LINE) for sign in (" ", ",", ";", "&", "}"))
    return place + 1 or _LINE
