"""The conversation without a terminal: a line in is a message, answers go to stdout, all else to stderr."""

import asyncio
import time

from hermes_core.kinds import Console
from hermes_core.types import (
    Called,
    Ended,
    Event,
    Failed,
    Message,
    Noticed,
    Question,
    Returned,
    Said,
    Started,
    Verdict,
)
from hermes_platform_cli.config import Config
from hermes_platform_cli.streams import Lines, Sink, Streams, is_terminal
from hermes_platform_cli.words import call_detail, duration, shown_text, text_of, usage_line
from hermes_platform_kit.asking import choice_of, lines_of, verdict_of
from hermes_platform_kit.clean import Cleaner, clean

__all__ = ["Plain"]


class Plain:
    """No control code is written, and nothing from outside can bring one in."""

    def __init__(self, config: Config, streams: Streams, console: Console, chat: str, person: str) -> None:
        self._config = config
        self._console = console
        self._chat = chat
        self._person = person
        self._lines = Lines(streams.stdin)
        self._out, self._err = Sink(streams.stdout), Sink(streams.stderr)
        self._present = is_terminal(streams.stdin) and self._err.terminal
        self._cleaner = Cleaner()
        self._held: list[str] = []  # what may turn out to be the answer or words between calls
        self._column = self._spoke = False
        self._command = False
        self._since = time.monotonic()

    async def open(self) -> None:
        """Say who answers, to a person."""
        notice = clean(self._console.status(self._chat).get("notice", ""))
        if notice:
            self._err.write(f"{notice}\n")

    async def read(self) -> str | None:
        """The next line that holds anything; None at the end, or when nobody reads our answers."""
        while not self._out.gone:
            if self._present:
                self._err.write(f"{self._config.prompt if self._config.prompt.isascii() else '>'} ")
            line = await self._lines.next()
            if line is None:
                return None
            if line.strip():
                self._command = line.startswith("/")
                return line
        return None

    async def typed(self) -> str:
        """Never: a line in a pipe is for after the turn, and an answer may be asked for meanwhile."""
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    async def show(self, event: Event) -> None:
        """Write what an event has for a pipe."""
        match event:
            case Started() if event.turn_id:  # else a command that takes its time
                self._spoke = self._command = False
                self._since = time.monotonic()
            case Said():
                self._say(self._cleaner.feed(event.text))
            case Called():
                self._end_text(answer=False)
                self._spoke = False
            case Returned() if self._config.tool_feed != "off":
                self._returned(event)
            case Noticed():
                self._end_text(answer=False)
                self._err.write(f"{clean(event.text)}\n")
            case Failed():
                self._end_text(answer=True)
                self._err.write("\n".join(filter(None, (f"Error: {clean(event.text)}", clean(event.hint)))) + "\n")
            case Ended():
                self._end(event)

    async def message(self, message: Message) -> None:
        """The result of a slash command is an answer; a notice is not."""
        text = shown_text(message)
        if text:
            (self._out if self._command else self._err).write(f"{text}\n")
        self._command = False

    async def ask(self, question: Question) -> Verdict | None:
        """Ask the person at the keyboard; None when input is a pipe, whose lines are messages and no answers."""
        if not self._present:
            return None
        self._end_text(answer=False)
        self._err.write("\n".join(lines_of(question)) + "\n? ")
        while (line := await self._lines.next()) is not None:
            said = line.strip()
            choice = said if question.kind == "text" else choice_of(question, said)
            if choice:
                return verdict_of(question, choice, self._person)
            if question.kind != "text":
                more = "; i and words behind it say what to do instead" if question.kind == "approval" else ""
                self._err.write(f"A number from 1 to {len(question.choices)} chooses{more}.\n")
            self._err.write("? ")
        return verdict_of(question, None, self._person)

    def interrupting(self) -> bool:
        """Ctrl+C between turns is not ours."""
        return False

    def stopping(self) -> None:
        """A turn was asked to stop."""
        self._err.write("Stopping…\n")

    async def close(self) -> None:
        """Nothing was changed; only words may be left."""
        self._lines.close()
        self._end_text(answer=True)

    def _say(self, text: str) -> None:
        if not text:
            return
        self._spoke = True
        if self._out.terminal:
            self._out.write(text)
            self._column = not text.endswith("\n")
        else:
            self._held.append(text)

    def _end_text(self, *, answer: bool) -> None:
        self._say(self._cleaner.finish())
        text, self._held = "".join(self._held).strip("\n"), []
        if text:
            (self._out if answer else self._err).write(f"{text}\n")
        elif self._column:
            self._out.write("\n")
        self._column = False

    def _returned(self, event: Returned) -> None:
        mark = "failed" if event.result.failed else "ok"
        words = (clean(event.call.name), call_detail(event.call), mark, duration(event.seconds))
        self._err.write("  ".join(word for word in words if word) + "\n")
        if self._config.tool_feed == "full" and self._config.result_lines:
            lines = clean(text_of(event.result.parts)).strip().split("\n")
            for line in lines[: self._config.result_lines]:
                self._err.write(f"  {line[:400]}\n")
            if len(lines) > self._config.result_lines:
                self._err.write(f"  … {len(lines) - self._config.result_lines:,} more\n")

    def _end(self, event: Ended) -> None:
        if event.answer and not self._spoke and event.reason == "done":
            self._say(clean(event.answer))
        self._end_text(answer=True)
        if event.reason == "interrupted":
            self._err.write("Stopped.\n")
        if event.note:
            self._err.write(f"{event.note}\n")
        if self._config.usage and self._present:
            self._err.write(f"{usage_line(event.usage, time.monotonic() - self._since)}\n")
