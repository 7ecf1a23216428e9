"""What one conversation used: its context, tokens, money, cache."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_core.types import Usage
from hermes_platform_tui.look.plots import Part, stack
from hermes_platform_tui.screens.dialog import Dialog, Hint
from hermes_platform_tui.screens.shown import cost, one_line, percent, span, tokens

__all__ = ["UsageScreen"]

_NAMED = 20


class Pages(VerticalScroll):
    """Lines that are drawn anew for every width."""

    DEFAULT_CSS = """
    Pages { scrollbar-size-vertical: 1; scrollbar-gutter: stable; background: transparent; }
    Pages > Static { height: auto; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, draw: Callable[[int], Sequence[Content]], ident: str = "pages") -> None:
        super().__init__(Static("", markup=False), id=ident, can_focus=True)
        self._draw = draw

    def on_mount(self) -> None:
        """Draw it."""
        self.again()

    def on_resize(self) -> None:
        """Draw it for this width."""
        self.again()

    def again(self) -> None:
        """Draw it anew."""
        width = self.scrollable_content_region.width
        if width > 0:
            self.query_one(Static).update(Content("\n").join(self._draw(width)))


class UsageScreen(Dialog[None]):
    """The usage of one session. ``parts`` is what its context is made of, in tokens, as far as anybody knows."""

    TITLE_TEXT = "Usage of this conversation"
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Esc", "close", "cancel"), Hint("↑↓", "read on"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q", "cancel", show=False)]
    DEFAULT_CSS = "UsageScreen > #box { max-width: 90; max-height: 26; }"

    def __init__(
        self,
        usage: Usage,
        *,
        context: int = 0,
        window: int = 0,
        parts: Mapping[str, int] | None = None,
        model: str = "",
        seconds: float = 0.0,
        turns: int = 0,
    ) -> None:
        super().__init__()
        self._usage, self._held, self._window, self._parts = usage, context, window, parts or {}
        self._model, self._seconds, self._turns = model, seconds, turns

    def body(self) -> ComposeResult:
        """The context, then the numbers."""
        yield Pages(self._lines)

    def _lines(self, width: int) -> Sequence[Content]:
        return [*self._of_context(width), Content(""), *self._numbers()]

    def _of_context(self, width: int) -> Sequence[Content]:
        if not self._held:
            return [_bold("Context"), _muted("Nobody has told yet how much is used.")]
        if not self._window:
            said = f"{tokens(self._held)} tokens; how many fit is unknown"
        else:
            said = f"{tokens(self._held)} of {tokens(self._window)} tokens, {percent(self._held, self._window)}"
        head = Content.assemble(("Context", "bold"), "  ", said)
        parts = [Part(one_line(name, 40), count) for name, count in self._parts.items()]
        counted = sum(self._parts.values())
        if counted < self._held:
            parts.append(Part("conversation" if parts else "used", self._held - counted))
        return [head, *stack(parts, width, whole=self._window)]

    def _numbers(self) -> Sequence[Content]:
        usage = self._usage
        cached = percent(usage.cache_read, usage.input)
        rows = [
            ("Model", one_line(self._model, 80)),
            ("Turns", str(self._turns) if self._turns else ""),
            ("Model calls", str(usage.calls)),
            ("Time", span(self._seconds) if self._seconds else ""),
            ("Tokens in", f"{usage.input:,}"),
            ("  from the cache", f"{usage.cache_read:,}{f'  ({cached} of what went in)' if cached else ''}"),
            ("  into the cache", f"{usage.cache_write:,}"),
            ("Tokens out", f"{usage.output:,}"),
            ("  for thinking", f"{usage.reasoning:,}"),
            ("Cost", _cost(usage)),
        ]
        return [Content.assemble((name.ljust(_NAMED), "$text-muted"), value) for name, value in rows if value]


def _cost(usage: Usage) -> str:
    said = cost(usage) or "nothing yet"
    why = {"estimated": "from a list of prices", "actual": "as the service said"}
    if usage.calls and usage.priced in why:
        return f"{said}  ({why[usage.priced]})"
    return f"{said}  (nobody knows its price)" if usage.calls else said


def _bold(text: str) -> Content:
    return Content.styled(text, "bold")


def _muted(text: str) -> Content:
    return Content.styled(text, "$text-muted")
