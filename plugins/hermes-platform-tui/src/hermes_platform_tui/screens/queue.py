"""Questions one after another."""

import asyncio
from typing import Any

from textual.app import App

from hermes_core.types import Question, Verdict
from hermes_platform_tui.screens.guard import QUIET
from hermes_platform_tui.screens.question import QuestionDialog

__all__ = ["QuestionQueue"]


class QuestionQueue:
    """Puts questions over the app, the oldest first. ``ask`` is what a turn's ``ask`` wants."""

    def __init__(self, app: App[Any], *, person: str, quiet: float = QUIET) -> None:
        self._app, self._person, self._quiet = app, person, quiet
        self._waiting: list[tuple[Question, asyncio.Future[Verdict | None]]] = []
        self._shown: QuestionDialog | None = None

    @property
    def waiting(self) -> int:
        """How many questions have no answer yet."""
        return len(self._waiting)

    async def ask(self, question: Question) -> Verdict | None:
        """The answer; None when it was withdrawn. Whoever stops waiting withdraws it."""
        answer: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if not self._look_again():
            return None  # the app is gone, and with it whoever could answer
        try:
            return await answer
        finally:
            self.withdraw(question.id)

    def withdraw(self, question: str) -> bool:
        """Take a question back by its id, shown or not; False when it was answered before."""
        found = [(asked, answer) for asked, answer in self._waiting if asked.id == question]
        self._waiting = [(asked, answer) for asked, answer in self._waiting if asked.id != question]
        for _, answer in found:
            if not answer.done():
                answer.set_result(None)
        self._look_again()
        return bool(found)

    def _look_again(self) -> bool:
        # A turn is played by a task of the kernel; screens are changed by the app itself.
        return self._app.call_later(self._show)

    def _show(self) -> None:
        if self._shown is not None:
            if all(question is not self._shown.question for question, _ in self._waiting):
                self._shown.withdraw()
            else:
                self._shown.show_waiting(len(self._waiting) - 1)
        elif self._waiting:
            question, more = self._waiting[0][0], len(self._waiting) - 1
            self._shown = QuestionDialog(question, person=self._person, waiting=more, quiet=self._quiet)
            self._app.push_screen(self._shown, self._answered)

    def _answered(self, verdict: Verdict | None) -> None:
        if self._shown is None:
            return
        asked, self._shown = self._shown.question, None
        for question, answer in self._waiting:
            if question is asked and not answer.done():
                answer.set_result(verdict)
        self._waiting = [(question, answer) for question, answer in self._waiting if question is not asked]
        self._show()
