"""Tabs: a conversation each, and the row that shows them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from hermes_core.errors import HermesError
from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.width import cells, clip
from hermes_platform_tui.view import ChatView

if TYPE_CHECKING:
    from hermes_platform_tui.app import HermesApp

__all__ = ["FIRST", "TabRow", "Tabs"]

FIRST = "main"  # the chat that is there from the beginning; the kernel calls it by no name before anything is said
_LONGEST = 24  # cells of a title


class Tabs:
    """The conversations of an app. ``make`` makes one of the name of its chat, and of the session it goes on in."""

    def __init__(self, app: "HermesApp", make: Callable[[str, str], ChatView]) -> None:
        self._app, self._make = app, make
        self._by_chat = {FIRST: make(FIRST, "")}
        self._opened = 0

    @property
    def views(self) -> Sequence[ChatView]:
        """The conversations, in the order of their tabs."""
        return list(self._by_chat.values())

    def of(self, chat: str) -> ChatView | None:
        """The conversation that the kernel calls so; None when its tab is closed."""
        return self._by_chat.get(chat or FIRST)

    async def open(self, session: str = "") -> ChatView:
        """A conversation beside the others: a new one, or an earlier one, which is opened only once."""
        for view in self.views:
            if session and view.session == session:
                await self.look_at(view)
                return view
        self._opened += 1
        view = self._make(f"tab-{self._opened}", session)
        self._by_chat[view.chat] = view
        await self._app.query_one(ContentSwitcher).mount(view)
        await self.look_at(view)
        try:
            await view.start()
            await view.see_wall()
        except HermesError as error:
            view.transcript.fail(error.text, error.hint)
        return view

    async def look_at(self, view: ChatView) -> None:
        """Show a conversation."""
        self._app.view, view.unseen = view, False
        self._app.query_one(ContentSwitcher).current = view.id
        for panel in self._app.query("WorkPanel"):
            panel.refresh_jobs(view.chat)  # type: ignore[attr-defined]
        view.composer.focus_input()
        self.show()
        self._app.show_facts()
        await self._app.questions.put()

    def show(self) -> None:
        """Show the tabs as they are now."""
        if self._app.is_attached_to_screen:
            for row in self._app.screen_stack[0].query(TabRow):  # there is none before the first frame
                row.show(self.views, self._app.view)

    async def close(self) -> None:
        """Close the one that is looked at; what runs in it is stopped, and what was said stays."""
        order, closing = self.views, self._app.view
        if len(order) == 1:
            self._app.notify("This is the last one. Ctrl+Q leaves.")
            return
        at = order.index(closing)
        await closing.interrupt()
        for waiting in closing.waiting:
            waiting.answer.cancel()
        del self._by_chat[closing.chat]
        await self.look_at(order[at - 1] if at else order[1])
        await closing.remove()

    async def step(self, by: int) -> None:
        """Look at the one so many places further; after the last comes the first."""
        order = self.views
        await self.look_at(order[(order.index(self._app.view) + by) % len(order)])

    async def go_to(self, number: int) -> None:
        """Look at one by its place, from 1; where there is none, nothing happens."""
        if number <= len(self.views):
            await self.look_at(self.views[number - 1])


class TabRow(Widget):
    """One row, where there are several.

    ``?`` marks a question that waits, a dot what happened unseen, a wheel what runs.
    """

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
