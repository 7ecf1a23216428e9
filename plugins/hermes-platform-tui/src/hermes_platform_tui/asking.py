"""Questions of the kernel, put to the person one after another, each in the conversation that it belongs to."""

from typing import TYPE_CHECKING

from hermes_core.types import Question, Verdict
from hermes_platform_tui.view import ChatView, Waiting

if TYPE_CHECKING:
    from textual.app import App

    from hermes_platform_tui.screens.question import QuestionDialog
    from hermes_platform_tui.terminal.notify import Notifier

    _App = App[int]
else:
    _App = object

__all__ = ["FIRST", "Asking"]

FIRST = "main"  # the chat that is there from the beginning; the kernel calls it by no name before anything is said


class Asking(_App):
    """The part of the app that asks."""

    view: ChatView
    person: str
    leaving: bool
    views_by_chat: dict[str, ChatView]
    notifier: "Notifier"
    _asking = False
    _dialog: "tuple[Waiting, QuestionDialog]"

    if TYPE_CHECKING:

        def show_tabs(self) -> None: ...

    async def ask(self, chat: str, question: Question) -> Verdict | None:
        """Put a question in a chat, once the person looks at it; None when it is gone."""
        view = self.views_by_chat.get(chat or FIRST)
        if view is None or self.leaving:
            return None
        waiting = Waiting(question)
        view.waiting.append(waiting)
        self.call_later(self.show_tabs)
        self.call_later(self.put)
        self.notifier.tell("Hermes asks", question.subject)
        try:
            return await waiting.answer
        finally:
            if waiting in view.waiting:
                view.waiting.remove(waiting)
            if not waiting.answer.done():
                waiting.answer.cancel()
            self.call_later(self._withdraw, waiting)

    async def put(self) -> None:
        """The next question of the conversation that is looked at, unless another dialog is open."""
        if self._asking or not self.view.waiting or len(self.screen_stack) > 1:
            return
        from hermes_platform_tui.screens.question import QuestionDialog

        self._asking = True
        waiting = self.view.waiting[0]
        dialog = QuestionDialog(waiting.question, person=self.person)
        self._dialog = (waiting, dialog)

        def answered(verdict: Verdict | None) -> None:
            self._asking = False
            if verdict is not None and not waiting.answer.done():
                waiting.answer.set_result(verdict)
            self.show_tabs()
            self.call_later(self.put)

        await self.push_screen(dialog, answered)

    def _withdraw(self, waiting: Waiting) -> None:
        if self._asking and self._dialog[0] is waiting:
            self._dialog[1].withdraw()

    def on_screen_resume(self) -> None:
        """A dialog has closed: a question may have waited for it."""
        self.call_later(self.put)
