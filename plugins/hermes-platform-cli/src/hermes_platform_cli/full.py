"""The conversation on a terminal: banner, prompt, running turn, questions."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.kinds import Console
from hermes_core.types import Event, Message, Noticed, Question, Verdict
from hermes_platform_cli.config import LEAVING, Config
from hermes_platform_cli.screen import DIM, RESET, Screen
from hermes_platform_cli.streams import Sink, Streams
from hermes_platform_cli.tty import Tty
from hermes_platform_cli.view import TurnView
from hermes_platform_cli.width import cells, clip, wrap
from hermes_platform_kit.asking import lines_of, outcome_line, verdict_of
from hermes_platform_kit.clean import clean

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from hermes_platform_cli.draft import Draft
    from hermes_platform_cli.prompt import Prompt

__all__ = ["Full"]

_MODES = {"off": "acts without asking", "smart": "asks when in doubt"}  # asking is what one expects
_BOLD, _YELLOW = "\x1b[1m", "\x1b[33m"


class Full:
    """Owns the screen. Either the prompt is on it, or a running turn, or a question."""

    def __init__(
        self,
        config: Config,
        streams: Streams,
        console: Console,
        chat: str,
        person: str,
        *,
        data: Path,
        tty: Tty | None,
        source: "Input | None" = None,
        sink: "Output | None" = None,
        interrupt: Callable[[], object] = lambda: None,
        version: str = "",
    ) -> None:
        self._version = version
        self._interrupt = interrupt
        self._draft: Draft | None = None
        self._config, self._console, self._chat, self._person = config, console, chat, person
        self._data = data
        self._tty = tty
        self._source, self._sink = source, sink
        self._out = Sink(streams.stdout)
        self._screen = Screen(self._out.write, shutil.get_terminal_size)
        self.view = TurnView(self._screen, config)
        self._prompt: Prompt | None = None
        self._gone = asyncio.Event()  # the prompt is off the screen
        self._gone.set()
        self._typed = ""
        self._answering: asyncio.Task[str | None] | None = None
        self._held: list[Callable[[], None]] | None = None  # what waits to be shown while a question is on the screen
        if tty is not None:
            tty.on_resume = self._resumed

    async def open(self) -> None:
        """Say who is here."""
        status = self._console.status(self._chat)
        columns = self._screen.size.columns
        rows = []
        if self._config.banner:
            name = "Hermes"
            facts = filter(None, [self._version, *self._facts()])
            rows.append(f"{_BOLD}{name}{RESET} {DIM}{clip(' · '.join(facts), columns - len(name) - 1)}{RESET}")
            if title := clean(status.get("title", "")):
                rows.append(f"{DIM}{clip(f'continues: {title}', columns)}{RESET}")
        notice = clean(status.get("notice", "")).strip()
        lines = [row for line in notice.split("\n") for row in wrap(line, columns - 2)] if notice else []
        rows += [f"{_YELLOW}!{RESET} {line}" if i == 0 else f"  {line}" for i, line in enumerate(lines)]
        self.view.rows([*rows, ""] if rows else [])

    async def read(self) -> str | None:
        """One message; an empty one when the prompt had to give way; None when the person leaves."""
        if self._draft and (line := self._draft.sent()):  # Enter came just before the turn had ended
            return self._read_line(line)
        prompt = self._prompt or self._make_prompt()
        typed, self._typed = self._typed + (self._draft.take() if self._draft else ""), ""
        self.view.draft = ""
        self.view.rest()
        self._gone.clear()
        try:
            text = await prompt.ask(typed)
        except EOFError:
            return None
        except Exception as error:
            from hermes_platform_cli.prompt import Withdrawn

            if not isinstance(error, Withdrawn):
                raise
            self._typed = error.text
            return ""
        finally:
            self._gone.set()
        if self._out.gone:
            return None
        if text.strip() not in LEAVING:
            self.view.begin()
        return text

    def _read_line(self, line: str) -> str:
        self._say_line(line)
        if line.strip() not in LEAVING:
            self.view.begin()
        return line

    async def typed(self) -> str:
        """A line typed while a turn runs. What is typed while a question is open is the answer to that."""
        while self._answering is not None:
            await asyncio.wait({self._answering})
        if self._draft is None:
            from hermes_platform_cli.draft import Draft

            self._draft = Draft(self._source, self._drafted, self._interrupt)
        self._draft.text, self._typed = self._typed + self._draft.text, ""  # what a prompt that gave way held goes on
        line = await self._draft.line()
        self._say_line(line)
        return line

    def _say_line(self, line: str) -> None:
        shown = " ↵ ".join(line.split("\n"))
        self._say(lambda: self.view.note(f"{self._config.prompt} {shown}"))

    def _drafted(self) -> None:
        self.view.draft = f"{self._config.prompt} {self._draft.text}" if self._draft and self._draft.text else ""
        self.view.paint()

    def _say(self, show: Callable[[], None]) -> None:
        if self._held is None:
            show()
        else:
            self._held.append(show)

    async def show(self, event: Event) -> None:
        """Show an event; an open prompt gives way and comes back after the turn with what was typed.

        What another screen says where no turn runs stands above it, as there is nothing to give way to.
        """
        if isinstance(event, Noticed) and self._held is None and self._prompt is not None and self._prompt.open:
            await self._prompt.above(lambda: self._event_now(event))
            return
        if self._prompt is not None and not self._gone.is_set():
            self._prompt.withdraw()
            await self._gone.wait()
        self._say(lambda: self.view.show(event))

    async def message(self, message: Message) -> None:
        """Show a message: below the running turn, or above the open prompt."""
        if self._held is not None:
            self._held.append(lambda: self._message_now(message))
        elif self._prompt is not None and self._prompt.open:
            await self._prompt.above(lambda: self._message_now(message))
        else:
            self._message_now(message)

    async def ask(self, question: Question) -> Verdict:
        """Put a question and wait for the answer."""
        if self._prompt is not None and not self._gone.is_set():
            self._prompt.withdraw()
            await self._gone.wait()
        self.view.pause()
        if self._tty is not None:
            self._typed += self._tty.typed_ahead()
        self.view.rows(["", *_question_rows(question, self._screen.size.columns), ""])
        self._held = []
        try:
            verdict = verdict_of(question, await self._answer(question), self._person)
            self.view.answered.add(question.id)
            self.view.rows(
                [f"  {DIM}{clip(outcome_line(question, verdict), self._screen.size.columns - 2)}{RESET}", ""]
            )
        finally:
            held, self._held = self._held, None
            self.view.begin_again()
            self.view.resume()
            for show in held:
                show()
        return verdict

    def interrupting(self) -> bool:
        """Ctrl+C as a signal: the prompt or an open question take it."""
        if self._answering is not None:
            self._answering.cancel()
            return True
        if self._prompt is not None and self._prompt.open:
            self._prompt.interrupt()
            return True
        return False

    def stopping(self) -> None:
        """A turn was asked to stop."""
        self.view.stopping = True
        self.view.paint()

    async def close(self) -> None:
        """Take prompt and live rows away."""
        if self._prompt is not None and not self._gone.is_set():
            self._prompt.leave()
            await self._gone.wait()
        self.view.stop()

    async def _answer(self, question: Question) -> str | None:
        from hermes_platform_cli.keypress import answer

        with self._draft.away() if self._draft else contextlib.nullcontext():
            return await self._answer_alone(asyncio.ensure_future(answer(question, self._source, self._sink)))

    async def _answer_alone(self, task: "asyncio.Task[str | None]") -> str | None:
        self._answering = task
        try:
            await asyncio.wait({task})
        finally:
            self._answering = None
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        return None if task.cancelled() else task.result()

    def _make_prompt(self) -> "Prompt":
        from hermes_platform_cli.prompt import Prompt

        self._prompt = Prompt(
            self._config,
            self._data / "history" if self._config.history else None,
            commands=lambda: self._console.commands,
            complete=lambda line: self._console.complete(self._chat, line),
            status=self._status_line,
            trouble=self._trouble,
            stop=lambda: self._console.interrupt(self._chat),
            source=self._source,
            sink=self._sink,
        )
        return self._prompt

    def _message_now(self, message: Message) -> None:
        self.view.message(message)
        self.view.paint()

    def _event_now(self, event: Event) -> None:
        self.view.show(event)
        self.view.paint()

    def _trouble(self, text: str) -> None:
        # Told with the next thing that is shown; the prompt is being made just now.
        self._screen.commit([f"{_YELLOW}!{RESET} {clean(text)}"])

    def _resumed(self) -> None:
        self._screen.forget()
        self.view.paint()

    def _facts(self) -> list[str]:
        status = {key: clean(value) for key, value in self._console.status(self._chat).items()}
        model, provider = status.get("model", ""), status.get("provider", "")
        facts = (model or provider, _short(status.get("cwd", "")), _MODES.get(status.get("mode", ""), ""))
        return [fact for fact in facts if fact]

    def _status_line(self, columns: int) -> str:
        facts = self._facts()
        while facts and cells(" · ".join(facts)) > columns:
            facts.pop()
        return " · ".join(facts)


def _question_rows(question: Question, columns: int) -> list[str]:
    """A question as rows. What will run is shown as it is, to the letter; words break at spaces."""
    mark = f"{_YELLOW}?{RESET}"
    head, *rest = lines_of(question)
    if question.kind == "approval":
        return [f"{mark} {_BOLD}{head}{RESET}", *(f"  {line}" for line in rest)]
    width = max(20, columns - 2)
    rows = [f"{' ' if n else mark} {_BOLD}{row}{RESET}" for n, row in enumerate(wrap(head, width))]
    for line in rest:
        first, *more = wrap(line, width - 4)
        rows += [f"  {first}", *(f"      {row}" if line.startswith("  ") else f"  {row}" for row in more)]
    return rows


def _short(path: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - a string is wanted
    return "~" + path[len(home) :] if home != "/" and (path == home or path.startswith(home + "/")) else path
