"""The row of tabs: a conversation each; there is none while there is only one."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.width import cells, clip
from hermes_platform_tui.view import ChatView

__all__ = ["TabRow"]

_LONGEST = 24  # cells of a title


class TabRow(Widget):
    """One row. ``?`` marks a question that waits, a dot what happened unseen, a wheel what runs."""

    DEFAULT_CSS = """
    TabRow { height: 1; dock: top; display: none; background: $panel; color: $text-muted; }
    TabRow.several { display: block; }
    """

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, view: ChatView) -> None:
            super().__init__()
            self.view = view

    def __init__(self) -> None:
        super().__init__()
        self._row: list[tuple[ChatView, str]] = []
        self._current: ChatView | None = None

    def show(self, views: Sequence[ChatView], current: ChatView) -> None:
        """Show these, one of them as the one that is looked at."""
        self._row = [(view, _label(number, view)) for number, view in enumerate(views, 1)]
        self._current = current
        self.set_class(len(views) > 1, "several")
        self.refresh()

    def render(self) -> Content:
        """The labels, as far as they fit around the current one."""
        parts: list[Content] = []
        for view, label in self._fitting():
            here = view is self._current
            parts.append(Content.styled(f" {label} ", "$text on $surface bold reverse" if here else ""))
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Choose a tab by the mouse."""
        x = 0
        for view, label in self._fitting():
            x += cells(label) + 2
            if event.x < x:
                self.post_message(self.Chosen(view))
                return

    def _fitting(self) -> list[tuple[ChatView, str]]:
        row = list(self._row)
        while len(row) > 1 and sum(cells(label) + 2 for _, label in row) > self.size.width:
            at = next((n for n, (view, _) in enumerate(row) if view is self._current), 0)
            row.pop(0 if at > len(row) // 2 else -1)
        return row


def _label(number: int, view: ChatView) -> str:
    mark = "? " if view.waiting else "• " if view.unseen else "⠿ " if view.facts.busy else ""
    begun = " ".join(view.opening[:200].split())
    title = clip(clean(view.facts.title or begun or "new"), _LONGEST)
    return f"{number} {mark}{title}"
