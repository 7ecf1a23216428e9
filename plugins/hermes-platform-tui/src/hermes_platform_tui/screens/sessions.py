"""The sessions there are, found by title or by what was said in them."""

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from hermes_core.errors import HermesError
from hermes_core.types import Hit, SessionRow
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.dialog import Hint, begin
from hermes_platform_tui.screens.picker import Picker
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.rows import Row, Rows, columns, heading
from hermes_platform_tui.screens.shown import clean, cost, excerpt, fault, one_line, when

if TYPE_CHECKING:
    from hermes_platform_tui.distant import Around

__all__ = ["NEW", "SessionPicker"]

NEW = ""
"""What the picker ends with when a new session is wanted."""

_PAGE = 100
_MOST = 5000
_PAUSE = 0.15  # seconds without a key before what was said is searched
_MARKED = re.compile(">>>(.*?)<<<", re.DOTALL)
_ROLES = {"user": "You", "assistant": "Hermes", "tool": "Tool", "system": "System"}


class SessionPicker(Picker[str | None]):
    """Ends with the id of a session, ``NEW``, or None. ``message`` is the number of the message that was found."""

    TITLE_TEXT = "Sessions"
    PLACEHOLDER = "Type to find a title, or what was said"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Enter", "open", "open"),
        Hint("Esc", "close", "cancel"),
        Hint("^N", "new", "new"),
        Hint("F2", "rename", "rename"),
        Hint("Del", "delete", "delete"),
        Hint("F3", "preview", "preview"),
        Hint("F4", "fork", "fork"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "new", show=False, priority=True),
        Binding("f2,r", "rename", show=False),
        Binding("f3,p", "preview", show=False),
        Binding("f4,f", "fork", show=False),
        Binding("n", "new", show=False),
    ]
    DEFAULT_CSS = """
    SessionPicker {
        &.-wide > #box { width: 96%; max-width: 180; }
        & #preview { display: none; width: 42%; padding: 0 1; border-left: solid $primary; scrollbar-size-vertical: 1; }
        & #said { height: auto; }
        &.-wide #preview { display: block; }
        &.-wide.-hidden #preview { display: none; }
        &.-preview #preview { display: block; width: 100%; border: none; padding: 0; }
        &.-preview #listed { display: none; }
        &.-wide.-preview #preview { width: 42%; border-left: solid $primary; padding: 0 1; }
        &.-wide.-preview #listed { display: block; }
    }
    """

    def __init__(self, ctx: "Around", *, current: str = "", now: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._ctx, self._current, self._now = ctx, current, now
        self._known: Sequence[SessionRow] = ()
        self._lines: Sequence[tuple[str, Row]] = ()  # each with what it is found by
        self._hits: Sequence[Hit] = ()
        self._limit, self._whole = _PAGE, False
        self._pause: Timer | None = None
        self._problem = ""
        self.message = 0

    def aside(self) -> ComposeResult:
        """The last that was said in the session under the cursor."""
        with VerticalScroll(id="preview", can_focus=False):
            yield Static("", id="said", markup=False)

    def on_mount(self) -> None:
        """Ask for the first page."""
        self.say_empty("Loading …")
        self._load(_PAGE)

    def _load(self, limit: int, at: str | None = None) -> None:
        self._limit = limit
        begin(self, "list", partial(self._ask, limit, at))

    async def _ask(self, limit: int, at: str | None) -> None:
        try:
            self._known = await self._ctx.sessions.rows(self._ctx.owner, limit=limit)
        except HermesError as error:
            self._problem = fault(error)
            self.notice(self._problem, error=True)
            self.say_empty("The sessions could not be read.")
            return
        self._lines = [(_findable(row), Row(row.session.id, partial(self._draw, row))) for row in self._known]
        self._whole = len(self._known) < limit
        self.say_empty(self.EMPTY if self._known else "No session yet. Ctrl+N begins one.")
        self.narrow(again=True)
        if at is not None:
            self.rows.show(self.rows.shown, at=at)
        elif not self.words and limit == _PAGE and self._current:
            self.rows.show(self.rows.shown, at=self._current)

    # what is shown

    def narrow(self, *, again: bool = False) -> None:
        """Titles at once; what was said a little later."""
        words = self.words
        wanted = words.casefold().split()
        rows = [row for text, row in self._lines if all(word in text for word in wanted)]
        fitting = len(rows)
        if words and self._hits:
            titled = {row.session.id: row for row in self._known}
            rows.append(heading(f"In what was said ({len(self._hits)})"))
            rows += [Row(_hit_id(hit), partial(self._draw_hit, hit, titled.get(hit.session_id))) for hit in self._hits]
        self.rows.show(rows)
        count = f"{fitting} of {len(self._known)}" if words else str(len(self._known))
        self.set_title(self.TITLE_TEXT, f"{count}{'' if self._whole else '+'}" if self._known else "")
        if again:
            return
        if self._pause is not None:
            self._pause.stop()
        if words and not self._whole and self._limit < _MOST:
            self._load(_MOST)
        if words:
            self._pause = self.set_timer(_PAUSE, self._search_soon)
        else:
            self._hits = ()
            self.workers.cancel_group(self, "search")

    def _search_soon(self) -> None:
        begin(self, "search", partial(self._search, self.words))

    async def _search(self, words: str) -> None:
        try:
            hits = await self._ctx.sessions.search(self._ctx.owner, words, limit=30)
        except HermesError as error:
            self._problem = fault(error)
            self.notice(self._problem, error=True)
            return
        if words == self.words:
            self._hits = hits
            self.narrow(again=True)

    def _draw(self, row: SessionRow, width: int) -> Content:
        session = row.session
        title, preview = one_line(session.title, 200), one_line(row.preview, 200)
        name = Content.styled(title, "bold") if title else Content(preview or "(nothing was said)")
        if title and preview:
            name = Content.assemble(name, "  ", (preview, "$text-muted"))
        if session.id == self._current:
            name = Content.assemble("• ", name)
        state = {"running": Content.styled("● running", "$text-success")}
        state["interrupted"] = Content.styled("! interrupted", "$text-warning")
        aged = state.get(row.state, Content.styled(when(row.updated, self._now()), "$text-muted"))
        messages = f"{row.messages} msg" if row.messages else "empty"
        return columns(
            width, (name, 0), (aged, -13), (messages, -8), (cost(row.usage), -8), (one_line(session.model, 60), 20)
        )

    def _draw_hit(self, hit: Hit, row: SessionRow | None, width: int) -> Content:
        title = one_line(hit.title, 80) or (one_line(row.preview, 80) if row else "") or hit.session_id
        aged = Content.styled(when(hit.created, self._now()), "$text-muted")
        words = Content.assemble(snippet(hit.snippet), "  ", (title, "$text-muted"))
        return columns(width, (words, 0), (aged, -13), (_ROLES.get(hit.role, ""), 7))

    # the preview

    @on(Rows.Moved)
    def _moved(self) -> None:
        row = self.rows.current
        shown = self.rows.shown
        if row and not self._whole and not self.words and self._limit < _MOST and row in shown[-20:]:
            self._load(self._limit * 2)
        if self.has_class("-wide") or self.has_class("-preview"):
            begin(self, "preview", partial(self._preview, row))

    async def _preview(self, row: Row | None) -> None:
        place = self.query_one("#said", Static)
        if row is None:
            place.update("")
            return
        session, number = _parts(row.id)
        try:
            said = await self._ctx.sessions.read(self._ctx.owner, session, around=number, window=4 if number else 12)
        except HermesError as error:
            place.update(Content(fault(error)))
            return
        pieces: list[Content] = []
        for at, message in said:
            text = excerpt(message, 800)
            if text:
                here = "▸ " if at == number else ""
                pieces.append(Content.assemble((f"{here}{_ROLES.get(message.role, message.role)}", "bold"), "\n", text))
        place.update(Content("\n\n").join(pieces) if pieces else Content("Nothing was said here yet."))
        scroll = self.query_one("#preview", VerticalScroll)
        (scroll.scroll_home if number else scroll.scroll_end)(animate=False)

    def action_preview(self) -> None:
        """Show the preview, or hide it."""
        self.toggle_class("-hidden" if self.has_class("-wide") else "-preview")
        begin(self, "preview", partial(self._preview, self.rows.current))

    def on_resize(self) -> None:
        """There may be room for the preview now."""
        super().on_resize()
        self.call_after_refresh(self._moved)

    # what can be done

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open the session under the cursor."""
        if row := self.rows.current:
            session, self.message = _parts(row.id)
            self.finish(session)

    def action_new(self) -> None:
        """Begin another one."""
        self.finish(NEW)

    def _here(self) -> tuple[str, str]:
        """The session under the cursor, and what it is called."""
        session = _parts(self.rows.current.id)[0] if self.rows.current else ""
        row = next((row for row in self._known if row.session.id == session), None)
        return session, (one_line(row.session.title or row.preview, 60) if row else "") or session

    def action_rename(self) -> None:
        """Give it another title."""
        session, _ = self._here()
        title = next((row.session.title for row in self._known if row.session.id == session), "")
        if session:
            dialog = PromptDialog("Rename", value=title, placeholder="A title")
            self.app.push_screen(dialog, lambda typed: self._change("rename", session, typed))

    def action_delete(self) -> None:
        """Delete it, after a yes."""
        session, name = self._here()
        if session:
            text = f"Delete “{name}” with all that was said in it? This cannot be taken back."
            dialog = ConfirmDialog(text, ("delete", "cancel"), title="Delete a session")
            self.app.push_screen(dialog, lambda said: self._change("delete", session, said == "delete" or None))

    def action_fork(self) -> None:
        """Go on from it in a new one."""
        session, _ = self._here()
        if session:
            self._change("fork", session, True)

    def _change(self, what: str, session: str, wanted: str | bool | None) -> None:
        if wanted is not None:
            begin(self, "change", partial(self._do, what, session, wanted), alone=False)

    async def _do(self, what: str, session: str, wanted: str | bool) -> None:
        sessions, owner, at = self._ctx.sessions, self._ctx.owner, None
        try:
            if what == "rename":
                await sessions.rename(owner, session, str(wanted))
                self.notice("Renamed.")
            elif what == "delete":
                await sessions.delete(owner, session)
                self._hits = [hit for hit in self._hits if hit.session_id != session]
                self.notice("Deleted.")
            else:
                at = (await sessions.fork(owner, session)).id
                self.notice("Forked: the cursor is on the new one.")
        except HermesError as error:
            self.notice(fault(error), error=True)
            return
        self._load(self._limit, at)


def snippet(text: str) -> Content:
    """A piece of a message on one line, the words that were found marked."""
    pieces: list[str | tuple[str, str]] = []
    for place, piece in enumerate(_MARKED.split(" ".join(clean(text).split()))):
        pieces.append((piece, "bold underline") if place % 2 else piece)
    return Content.assemble(*pieces)


def _findable(row: SessionRow) -> str:
    return f"{row.session.title}\n{row.preview}\n{row.session.id}".casefold()


def _hit_id(hit: Hit) -> str:
    return f"{hit.session_id}\n{hit.message_id}"


def _parts(ident: str) -> tuple[str, int]:
    session, _, number = ident.partition("\n")
    return session, int(number or 0)
