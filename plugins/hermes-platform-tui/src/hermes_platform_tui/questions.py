"""Questions of the kernel, put to the person one after another, each in the conversation that it belongs to."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_core.types import Question, Verdict
    from hermes_platform_tui.app import HermesApp
    from hermes_platform_tui.screens.question import QuestionDialog

__all__ = ["Questions", "Waiting"]


class Waiting:
    """A question that waits for the person, and what they answer."""

    def __init__(self, question: "Question") -> None:
        self.question = question
        self.answer: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()


class Questions:
    """Asks the person who looks at an app."""

    def __init__(self, app: "HermesApp") -> None:
        self._app = app
        self._open: tuple[Waiting, QuestionDialog] | None = None

    async def ask(self, chat: str, question: "Question") -> "Verdict | None":
        """Put a question in a chat, once the person looks at it; None when it is gone."""
        view = self._app.tabs.of(chat)
        if view is None or self._app.leaving:
            return None
        waiting = Waiting(question)
        view.waiting.append(waiting)
        self._app.call_later(self._app.tabs.show)
        self._app.call_later(self.put)
        self._app.terminal.notifier.tell("Hermes asks", question.subject)
        try:
            return await waiting.answer
        finally:
            if waiting in view.waiting:
                view.waiting.remove(waiting)
            if not waiting.answer.done():
                waiting.answer.cancel()
            self._app.call_later(self._withdraw, waiting)

    async def put(self) -> None:
        """The next question of the conversation that is looked at, unless another dialog is open."""
        if self._open or not self._app.view.waiting or len(self._app.screen_stack) > 1:
            return
        from hermes_platform_tui.screens.question import QuestionDialog

        waiting = self._app.view.waiting[0]
        dialog = QuestionDialog(waiting.question, person=self._app.person)
        self._open = waiting, dialog

        def answered(verdict: "Verdict | None") -> None:
            self._open = None
            if verdict is not None and not waiting.answer.done():
                waiting.answer.set_result(verdict)
            self._app.tabs.show()
            self._app.call_later(self.put)

        await self._app.push_screen(dialog, answered)

    def _withdraw(self, waiting: Waiting) -> None:
        if self._open and self._open[0] is waiting:
            self._open[1].withdraw()
