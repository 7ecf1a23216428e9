"""Questions to the person: what exactly will happen, and one key to answer."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.cells import chop_cells
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from hermes_core.types import Question, Verdict
from hermes_platform_tui.screens.dialog import Dialog, Hint
from hermes_platform_tui.screens.guard import QUIET, Guard
from hermes_platform_tui.screens.line import Line
from hermes_platform_tui.screens.sheet import Sheet, Writing
from hermes_platform_tui.screens.shown import clean, exact

__all__ = ["QuestionDialog"]

_MEANS = {"once": "this time", "session": "for this conversation", "always": "from now on", "deny": "no"}
_LASTING = ("session", "always")
_TITLES = {"approval": "May this run?", "choice": "A question", "text": "A question"}
_BESIDE = 160  # characters of what a grant covers that are shown beside its choices; longer ones above them


class _Choices(Widget, can_focus=True):
    """The choices below each other, with their keys. Only its own keys answer, and only when the guard is open."""

    DEFAULT_CSS = """
    _Choices { height: auto; margin-top: 1; background: transparent; }
    """

    class Picked(Message):
        """A choice was made."""

        def __init__(self, choice: str) -> None:
            super().__init__()
            self.choice = choice

    class Wished(Message):
        """Something else is wanted."""

    def __init__(self, question: Question) -> None:
        super().__init__(id="choices")
        self._question, self._beside = question, ""
        self._keys = keys_of(question)
        # What is safe comes first to a stray Enter.
        self._cursor = question.choices.index("deny") if "deny" in question.choices else 0

    def stand_beside(self, covers: str) -> None:
        """Show what lasting choices allow below each of them."""
        self._beside = covers
        self.refresh(layout=True)

    def render(self) -> Content:
        """One choice a line, the current one marked."""
        return Content("\n").join(line for lines in self._lines(self.size.width) for line in lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the choices take."""
        return sum(map(len, self._lines(width)))

    def _lines(self, width: int) -> Sequence[Sequence[Content]]:
        wide = max((len(name) for name in self._question.choices), default=0)
        approval = self._question.kind == "approval" and all(one in _MEANS for one in self._question.choices)
        letters = {choice: key for key, choice in self._keys.items() if not key.isdigit()}
        shown = []
        for place, choice in enumerate(self._question.choices):
            number = str(place + 1) if place < 9 else " "
            name = " ".join(clean(choice).split())
            if approval:
                name = f"{choice.ljust(wide)}  ({letters[choice]}) {_MEANS[choice]}"
            here = place == self._cursor
            lines = [Content.assemble("❯ " if here else "  ", (number, "bold"), " ", (name, "bold reverse" * here))]
            if approval and self._beside and choice in _LASTING:
                room = max(8, width - 6)
                lines += [Content(f"      {line}") for line in chop_cells(f"would allow {self._beside}", room)]
            shown.append(lines)
        return shown

    def on_key(self, event: events.Key) -> None:
        """Digits, letters, arrows, Enter."""
        if isinstance(self.screen, QuestionDialog) and self.screen.blocks(event):
            return
        choices = self._question.choices
        steps = {"up": -1, "down": 1, "left": -1, "right": 1, "tab": 1, "shift+tab": -1}
        if event.key in steps:
            self._cursor = (self._cursor + steps[event.key]) % len(choices)
            self.refresh()
        elif event.key == "enter":
            self.post_message(self.Picked(choices[self._cursor]))
        elif (choice := self._keys.get((event.character or "").casefold())) is not None:
            self.post_message(self.Picked(choice))
        elif self._question.kind == "approval" and event.character in ("i", "I"):
            self.post_message(self.Wished())
        else:
            return
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """A click on a choice goes to it; only a key or a second click answers."""
        place = self._line_to_choice(event.y + self.scroll_offset.y)
        if place is not None and place == self._cursor:
            self.post_message(self.Picked(self._question.choices[place]))
        elif place is not None:
            self._cursor = place
            self.refresh()

    def _line_to_choice(self, y: int) -> int | None:
        line = 0
        for place, lines in enumerate(self._lines(self.size.width)):
            line += len(lines)
            if y < line:
                return place
        return None


def keys_of(question: Question) -> Mapping[str, str]:
    """What stands for which choice: its number, and in an approval its first letter where that is its own."""
    keys = {str(number): choice for number, choice in enumerate(question.choices[:9], 1)}
    if question.kind != "approval":
        return keys
    letters = [choice[:1].casefold() for choice in question.choices]
    own = {a: c for c, a in zip(question.choices, letters, strict=True) if a.isalpha() and letters.count(a) == 1}
    return {**keys, **own}


class _AnswerLine(Line):
    """The line for an answer in words."""

    def on_key(self, event: events.Key) -> None:
        """Only when the guard is open."""
        if isinstance(self.screen, QuestionDialog):
            self.screen.blocks(event)

    def on_paste(self, event: events.Paste) -> None:
        """Only when the guard is open."""
        if isinstance(self.screen, QuestionDialog):
            self.screen.blocks(event)


class QuestionDialog(Dialog[Verdict | None]):
    """Put a question. Ends with the Verdict, or with None when it was withdrawn.

    Escape is a no, and says so. ``waiting`` is how many more questions come after it.
    """

    AUTO_HEIGHT = True
    FLEXIBLE = "#subject"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup,ctrl+up", "scroll(-1)", show=False),
        Binding("pagedown,ctrl+down", "scroll(1)", show=False),
        Binding("escape", "cancel", show=False),
    ]
    DEFAULT_CSS = """
    QuestionDialog {
        & > #box { width: 96%; max-width: 110; }
        & #subject { height: auto; min-height: 1; }
        & #more { height: 1; color: $text-warning; display: none; }
        & #more.-shown { display: block; }
        & #answer { margin-top: 1; }
        &.-short #choices { margin-top: 0; }
        &.-short #answer { margin-top: 0; border: none; height: 1; padding: 0; }
        &.-short #subject, &.-narrow #subject { height: 1fr; }
    }
    """

    def __init__(self, question: Question, *, person: str, waiting: int = 0, quiet: float = QUIET) -> None:
        super().__init__()
        self.question = question
        self._person, self._waiting, self._quiet = person, waiting, quiet
        self._guard = Guard(float("inf"), quiet)  # nothing counts before it is seen
        self._withdrawn = self._instead = False
        self._covers = exact(question.covers) if set(_LASTING) & set(question.choices) else ""
        self._brief = question.kind == "approval" and len(self._covers) <= _BESIDE and "\n" not in self._covers
        self._crowded: bool | None = None

    def body(self) -> ComposeResult:
        """What will happen, then how to answer."""
        yield Sheet(ident="subject")
        yield Static("", id="more", markup=False)
        if self.question.kind == "text":
            yield _AnswerLine(id="answer", placeholder="Your answer")
        else:
            yield _Choices(self.question)

    def _pieces(self, covers: str) -> Sequence[Writing]:
        shown = exact if self.question.kind == "approval" else clean
        pieces = [Writing(shown(self.question.subject), "bold" if self.question.kind == "approval" else "")]
        if self.question.risk:
            pieces += [
                Writing("", bare=True),
                Writing(f"Risk: {exact(self.question.risk)}", "$text-warning", bare=True),
            ]
        if covers:
            lasting = " and ".join(choice for choice in self.question.choices if choice in _LASTING)
            pieces += [Writing("", bare=True), Writing(f"{lasting} would allow:", bare=True), Writing(covers)]
        return pieces

    def on_mount(self) -> None:
        """Begin the guard when it is seen."""
        self.query_one("#answer, #choices").focus()
        self._tell()
        self.call_after_refresh(self._seen)

    def _seen(self) -> None:
        self._guard = Guard(Message().time, self._quiet)  # by the clock that keys bear
        self.fit()

    def fit(self) -> None:
        """The choices are always seen; what a grant covers stands beside them where there is room."""
        crowded = self.size.height < 20 or self.size.width < 60
        if crowded is not self._crowded:
            self._crowded = crowded
            self.query_one(Sheet).show(self._pieces(self._covers if crowded or not self._brief else ""))
            for choices in self.query(_Choices):
                choices.stand_beside("" if crowded or not self._brief else self._covers)
            self.call_after_refresh(self.fit)
        super().fit()

    def on_sheet_seen(self) -> None:
        """Say how much of it is out of sight."""
        below = self.query_one(Sheet).below
        more = self.query_one("#more", Static)
        more.update(Content(f"▼ {below} more line{'s' * (below != 1)}: PgDn"))
        if (below > 0) is not more.has_class("-shown"):
            more.set_class(below > 0, "-shown")
            self.call_after_refresh(super().fit)

    def show_waiting(self, waiting: int) -> None:
        """Say how many more questions wait."""
        self._waiting = waiting
        if self.is_mounted:
            self._tell()

    def _tell(self) -> None:
        more = f"{self._waiting} more after this" if self._waiting else ""
        asked = "an admin is asked" if self.question.to == "admin" else ""
        self.set_title(_TITLES[self.question.kind], ", ".join(filter(None, (asked, more))))
        many = min(9, len(self.question.choices))
        choose = Hint("Enter", "answer") if self.question.kind == "text" else Hint(f"1-{many}", "answer")
        arrows = () if self.question.kind == "text" else (Hint("↑↓ Enter", "choose"),)
        if self._instead:
            choose, arrows = Hint("Enter", "no, and do this instead"), ()
        elif self.question.kind == "approval":
            arrows = (Hint("i", "no, do this instead", "instead"), *arrows)
        leave = Hint("Esc", "no" if self.question.kind == "approval" else "no answer", "cancel")
        self.hint((choose, leave, *arrows, Hint("PgDn", "read on", "scroll(1)")))

    def blocks(self, event: events.Key | events.Paste) -> bool:
        """Whether a key came too early to be an answer; then nobody gets it."""
        if self._guard.passes(event.time):
            return False
        event.stop()
        event.prevent_default()
        self.notice("That key came with the question and was not taken. Read, then answer.")
        return True

    def withdraw(self) -> None:
        """Close it: it was answered elsewhere, or nobody wants to know any more."""
        self._withdrawn = True
        self.finish(None)

    def on_screen_resume(self) -> None:
        """Something over it went away; if it was withdrawn meanwhile, so does this."""
        if self._withdrawn:
            self.finish(None)

    def action_scroll(self, step: int) -> None:
        """Read on, or back."""
        sheet = self.query_one(Sheet)
        sheet.scroll_relative(y=step * max(1, sheet.size.height - 1), animate=False)

    def action_cancel(self) -> None:
        """A no."""
        self.finish(Verdict.refused(self._person))

    async def action_instead(self) -> None:
        """A no, once it is said what is to be done instead: a line for it comes in the place of the choices."""
        if self.question.kind == "approval" and not self._instead and self._guard.passes(Message().time):
            self._instead = True
            choices = self.query_one(_Choices)
            line = _AnswerLine(id="answer", placeholder="What to do instead")
            await choices.parent.mount(line, after=choices)  # type: ignore[union-attr]
            await choices.remove()
            line.focus()
            self._tell()
            self.call_after_refresh(self.fit)

    async def on__choices_wished(self) -> None:
        """Say what."""
        await self.action_instead()

    def on__choices_picked(self, event: _Choices.Picked) -> None:
        """A choice is the answer."""
        if self.question.kind == "approval" and event.choice == "deny":
            self.action_cancel()
        else:
            self.finish(Verdict(outcome="allow", by=self._person, choice=event.choice))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was typed is the answer; nothing is none."""
        if self._instead and event.value.strip():
            self.finish(Verdict.refused(self._person, event.value))
        elif event.value.strip():
            self.finish(Verdict(outcome="allow", by=self._person, choice=event.value))
