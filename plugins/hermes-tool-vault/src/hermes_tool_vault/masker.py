"""What keeps the vault's values out of every text that a model, a log or a person is shown."""

import os
import re
from collections.abc import Callable, Iterable, Iterator

from hermes_core.errors import UserError
from hermes_core.kinds import Masker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_known.forms import Forms
    from hermes_known.places import Span

__all__ = ["Kept", "hide", "hider"]

_HIDDEN = "⟦secret⟧"
_PIECE = 6  # characters in a row; of what a tool of the vault brings back not even as much is shown


class Kept(Masker):
    """Knows all values of the vault, and the codes that were used of late. Without a vault it costs one look."""

    name = "vault"

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx, self._path = ctx, str(ctx.paths.data / "vault")
        self._known: tuple[object, Forms | None] = (None, None)

    def may_hold(self, text: str) -> bool:
        """Nothing is imported or opened as long as there is no vault."""
        forms, codes = self._forms(), self._codes()
        return (forms is not None and forms.may_hold(text)) or any(code in text for code in codes)

    def spans(self, text: str) -> Iterable["Span"]:
        """The values in all the forms that ``forms`` knows; codes as they are, where no digit is beside them."""
        forms = self._forms()
        return [*(forms.spans(text) if forms else ()), *_short(self._codes(), text)]

    def is_secret(self, value: str, name: str = "") -> bool:
        """Whether a value is one of the vault's, whatever its field is called."""
        return self.may_hold(value)

    def _codes(self) -> Iterable[str]:
        vault = self._ctx.state.get("vault")
        return vault.codes() if vault else ()

    def _forms(self) -> "Forms | None":
        """What finds the values there are now. What was known stays known where it does not open."""
        try:
            status = os.stat(self._path)  # noqa: PTH116 - for every text that is masked
        except OSError:
            return None
        state = status.st_mtime_ns, status.st_ino, status.st_size
        if self._known[0] != state:
            from hermes_known.forms import Forms
            from hermes_tool_vault.sealed import vault_of

            try:
                values = [value for item in vault_of(self._ctx).read().values() for value in item.secrets]
            except UserError:
                self._known = (state, self._known[1])
            else:
                self._known = (state, Forms(values))
        return self._known[1]


def hide(text: str, values: Iterable[str]) -> str:
    """What came back from where values went, without them: also without pieces of them, and short ones.

    Args:
        text: All that came back, so that what stands on several lines is found, too.
        values: Those that were used, with what they were made of.
    """
    return hider(values)(text)


def hider(values: Iterable[str]) -> Callable[[str], str]:
    """What hides these values in one text after another."""
    from hermes_known.forms import Forms
    from hermes_known.places import places

    known = sorted(set(filter(None, values)))
    pieces = {way[at : at + _PIECE] for v in known for way in (v, v[::-1]) for at in range(len(v) - _PIECE + 1)}
    forms, short = Forms(known), [value for value in known if len(value) <= _PIECE]

    def hidden(text: str) -> str:
        found = [*forms.spans(text), *_short(short, text)]
        found += [span for piece in pieces for span in places(piece, text)]
        shown, at = [], 0
        for begin, end in _merged(found):
            shown += [text[at:begin], _HIDDEN]
            at = end
        return "".join([*shown, text[at:]])

    return hidden


def _short(values: Iterable[str], text: str) -> Iterator["Span"]:
    for value in values:
        for found in re.finditer(rf"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])", text):
            yield found.start(), found.end(), True


def _merged(spans: Iterable["Span"]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end, _ in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged
